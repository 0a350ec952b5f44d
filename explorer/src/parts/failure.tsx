// A part of the page that could not be read: what the service says, with the id of the request.
import { OutbreaksError } from '../../../clients/typescript/src/client.ts'
import { Icon } from './icon.tsx'

export function Failure({ error }: { error: Error }) {
  const { requestId, problem } = error instanceof OutbreaksError ? error : {}
  return (
    <div class="note bad failure" role="alert">
      <Icon name="warn" />
      <div>
        <p class="h3">This part could not be read</p>
        <p>
          {problem?.detail ?? error.message} {requestId !== undefined && <small>Request {requestId}</small>}
        </p>
      </div>
    </div>
  )
}
