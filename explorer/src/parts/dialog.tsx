// A dialog over the page. Escape and a click outside close it; the focus returns to where it was.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly foot?: ComponentChildren
}

export function Dialog({ title, onClose, children, foot }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      class="modal"
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div class="modal-head">
        <h2 id="dialog-title">{title}</h2>
        <button class="btn plain icon" type="button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="modal-body">{children}</div>
      {foot !== undefined && <div class="modal-foot">{foot}</div>}
    </dialog>
  )
}
