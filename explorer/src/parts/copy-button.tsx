// Copies a text, and says that it did.
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

interface CopyButtonProps {
  readonly text: string
  readonly label: string
  readonly hint?: string
  readonly icon?: IconName
  readonly class?: string
}

export function CopyButton({ text, label, hint, icon = 'copy', class: name = '' }: CopyButtonProps) {
  const [copied, setCopied] = useState<string | null>(null)
  return (
    <button
      class={`btn ${name}`}
      type="button"
      title={hint}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}
    >
      <Icon name={copied === text ? 'check' : icon} />
      <span aria-live="polite">{copied === text ? 'Copied' : label}</span>
    </button>
  )
}
