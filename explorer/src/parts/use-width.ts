// The width of an element as it is on the screen: charts are drawn at this width, so that their text keeps its size.
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export function useWidth<Element extends HTMLElement>(initial: number): [number, RefObject<Element>] {
  const element = useRef<Element>(null)
  const [width, setWidth] = useState(initial)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0) setWidth(Math.round(entry.contentRect.width))
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [width, element]
}
