// The URLs of the explorer's pages, which of them a sign-in can lead to, and whether a request comes from one of them.
import type { FastifyRequest } from 'fastify'

export const HOME = '/explore'
export const SIGN_IN = `${HOME}/sign-in`

/** The script of the page reads the path and shows what belongs to it. */
export const PAGES = [
  HOME,
  `${HOME}/events`,
  `${HOME}/events/:event`,
  `${HOME}/events/:event/:tab`,
  `${HOME}/compare`,
  `${HOME}/releases`,
  `${HOME}/releases/:number`,
  `${HOME}/records`,
  `${HOME}/records/:id`,
  `${HOME}/coverage`,
  `${HOME}/downloads`,
  `${HOME}/watches`,
]

/** No request is sent there; the address only completes a path. */
const ORIGIN = 'http://localhost'
const patterns = PAGES.map((pathname) => new URLPattern({ pathname }))

/** `to` if it is a page of the explorer, as browsers read it; otherwise the first page. It is never another site. */
export function chooseTarget(to: string | null): string {
  const url = URL.parse(to ?? HOME, ORIGIN)
  if (url === null || url.origin !== ORIGIN) return HOME
  const { pathname, search } = url
  return patterns.some((pattern) => pattern.test({ pathname })) ? pathname + search : HOME
}

export const readQuery = (url: string): URLSearchParams => new URL(url, ORIGIN).searchParams

/** Browsers set this header with TLS or on this machine, and scripts cannot. */
export const isFromOwnPage = ({ headers }: FastifyRequest): boolean => headers['sec-fetch-site'] === 'same-origin'
