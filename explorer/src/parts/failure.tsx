// A part of the page that could not be read: what the service says, with the id of the request.
import { OutbreaksError } from '../../../clients/typescript/src/client.ts'
import { texts } from '../texts.ts'

export function Failure({ error }: { error: Error }) {
  const { requestId, problem } = error instanceof OutbreaksError ? error : {}
  return (
    <div class="failure" role="alert">
      <b>{texts.errors.title}</b> {problem?.detail ?? error.message}{' '}
      {requestId !== undefined && <small>{texts.errors.request(requestId)}</small>}
    </div>
  )
}
