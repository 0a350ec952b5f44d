// Copies a text, and says that it did.
import { useState } from 'preact/hooks'
import { texts } from '../texts.ts'

export function CopyButton({ text, label, hint }: { text: string; label: string; hint?: string }) {
  const [copied, setCopied] = useState<string | null>(null)
  return (
    <button
      type="button"
      title={hint}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}
    >
      <span aria-live="polite">{copied === text ? texts.copied : label}</span>
    </button>
  )
}
