// Opens the dialog that watches the question of the page, where the service has watches. The page shows the dialog.
import { Icon } from '../parts/icon.tsx'
import { hasWatches } from '../state.ts'

export const WatchButton = ({ onOpen }: { onOpen: () => void }) =>
  hasWatches ? (
    <button class="btn" type="button" onClick={onOpen}>
      <Icon name="bell" /> <span>Watch this</span>
    </button>
  ) : null
