// Small signs beside words. They say nothing that the words do not say.
const PATHS = {
  added: 'M8 3v10M3 8h10',
  arrow: 'M2.5 8h11M9.5 4l4 4-4 4',
  bell: 'M3 12h10c-1-1-1.4-2.3-1.4-5a3.6 3.6 0 0 0-7.2 0c0 2.7-.4 4-1.4 5zM6.7 14.2h2.6',
  bars: 'M2 13h12M4 13V8M8 13V4M12 13v-3',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  clock: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM8 4.5V8l2.5 1.6',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  corrected: 'M3 13l.8-3L11 2.8 13.2 5 6 12.2z',
  disease:
    'M8 3v2M8 11v2M3 8h2M11 8h2M4.5 4.5l1.4 1.4M10.1 10.1l1.4 1.4M11.5 4.5l-1.4 1.4M5.9 10.1l-1.4 1.4M8 5.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 0 1 0-5',
  down: 'M4 6l4 4 4-4',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  info: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM8 7.2v4M8 4.8v.1',
  link: 'M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 0 1 4.3 4.3L11.3 8.8M9 11.5l-1.2 1.2a3 3 0 0 1-4.3-4.3L4.7 7.2',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  out: 'M9 2.5H3.5v11H9M7 8h7M11 5l3 3-3 3',
  picture: 'M2 3h12v10H2zM2 11l3.5-3.5L8 10l2.5-2.5L14 11',
  place:
    'M8 14s4.5-4.4 4.5-7.6A4.4 4.4 0 0 0 8 2a4.4 4.4 0 0 0-4.5 4.4C3.5 9.6 8 14 8 14zM8 8a1.6 1.6 0 1 0 0-3.2A1.6 1.6 0 0 0 8 8',
  play: 'M5 3.5v9l7-4.5z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  quote: 'M3 9.5h3v3H3zM3 9.5c0-3 .8-4.6 3-6M10 9.5h3v3h-3zM10 9.5c0-3 .8-4.6 3-6',
  search: 'M7 12.5a5.5 5.5 0 1 0 0-11a5.5 5.5 0 0 0 0 11zM11 11l3.5 3.5',
  sum: 'M12 4V2.5H4L8.5 8 4 13.5h8V12',
  table: 'M2 3h12v10H2zM2 6.5h12M2 10h12M6 3v10',
  warn: 'M8 2.2l6.3 11.3H1.7zM8 6.5v3.2M8 11.6v.1',
  withdrawn: 'M3 8h10',
  zero: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM3.7 3.7l8.6 8.6',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
