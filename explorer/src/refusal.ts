// A question that the service does not answer with one number, because nothing is clearly the best. Pure.
import { NotComparable } from '../../clients/typescript/src/client.ts'

export const isRefusedBy = (error: Error | undefined): error is NotComparable => error instanceof NotComparable
