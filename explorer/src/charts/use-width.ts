// The width of an element as it is on the screen: charts are drawn at this width, so that their text keeps its size.
import type { RefCallback } from 'preact'
import { useCallback, useRef, useState } from 'preact/hooks'

export function useWidth<Measured extends HTMLElement>(initial: number): [number, RefCallback<Measured>] {
  const [width, setWidth] = useState(initial)
  const observer = useRef<ResizeObserver | null>(null)
  // A callback, because the element may appear later than the component.
  const observe = useCallback((element: Measured | null) => {
    observer.current?.disconnect()
    if (element === null) return
    observer.current = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width))
    })
    observer.current.observe(element)
  }, [])
  return [width, observe]
}
