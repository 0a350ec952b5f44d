// A part of the page that could not be read, or a change that was rejected: what the service says, with the id of the request.
import { OutbreaksError } from '../../../clients/typescript/src/client.ts'
import { Icon } from './icon.tsx'

interface FailureProps {
  readonly error: Error
  readonly title?: string
}

export function Failure({ error, title = 'This part could not be read' }: FailureProps) {
  const { requestId, problem } = error instanceof OutbreaksError ? error : {}
  return (
    <div class="note bad failure" role="alert">
      <Icon name="warn" />
      <div>
        <p class="h3">{title}</p>
        <p>
          {problem?.detail ?? error.message} {requestId !== undefined && <small>Request {requestId}</small>}
        </p>
      </div>
    </div>
  )
}
