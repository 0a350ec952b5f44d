// A part of the page that could not be read: what the service says, and its request.
import { OutbreaksError } from '../../../clients/typescript/src/client.ts'
import { texts } from '../texts.ts'

export function Failure({ error }: { error: Error }) {
  const request = error instanceof OutbreaksError ? error.requestId : null
  return (
    <div class="failure" role="alert">
      <b>{texts.errors.title}</b> {error.message} {request && <small>{texts.errors.request(request)}</small>}
    </div>
  )
}
