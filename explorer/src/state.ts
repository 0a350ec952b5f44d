// The address as a signal. A change of the question is a new entry of the history, so that Back undoes questions; a change of
// the view while a slider moves replaces the entry.
import { computed, signal } from '@preact/signals'
import {
  type Address,
  changeQuestion,
  DEFAULT_VIEW,
  type Filter,
  formatAddress,
  type Page,
  parseAddress,
  type Question,
  type View,
} from './address.ts'

export const address = signal<Address>(parseAddress(new URL(location.href)))
export const question = computed(() => address.value.question)
export const view = computed(() => address.value.view)

// An address from before events had pages of their own becomes the one of today.
if (location.pathname === '/explore' && address.value.page !== 'explore')
  history.replaceState(null, '', formatAddress(address.value))

addEventListener('popstate', () => {
  address.value = parseAddress(new URL(location.href))
})

function show(next: Address, replaces: boolean): void {
  const text = formatAddress(next)
  if (text === formatAddress(address.peek())) return
  if (replaces) history.replaceState(null, '', text)
  else history.pushState(null, '', text)
  address.value = next
}

export const setView = (changes: Partial<View>, { replaces = false }: { replaces?: boolean } = {}): void =>
  show({ ...address.peek(), view: { ...address.peek().view, ...changes } }, replaces)

export const setQuestion = (changes: Question): void =>
  show({ ...address.peek(), question: changeQuestion(address.peek().question, changes) }, false)

/** One more value of a filter, and the view that shows the values side by side: one entry of the history. */
export function addToQuestion(filter: Filter, value: string, changes: Partial<View>): void {
  const { question: before, view: shown, ...rest } = address.peek()
  const values = [...new Set([...(before[filter] ?? []), value])]
  show({ ...rest, question: changeQuestion(before, { [filter]: values }), view: { ...shown, ...changes } }, false)
}

export function goTo(page: Page, changes: Partial<Omit<Address, 'page'>> = {}): void {
  show({ ...address.peek(), item: null, tab: 'overview', ...changes, page }, false)
  scrollTo(0, 0)
  // A reader of the page continues with its content, as after loading a page.
  document.getElementById('main')?.focus({ preventScroll: true })
}

/** A page about one event, as it is shown first. The release stays. */
export const eventLink = (event: string): { page: Page; to: Partial<Omit<Address, 'page'>> } => ({
  page: 'event',
  to: { question: { event: [event] }, view: { ...DEFAULT_VIEW, release: view.value.release } },
})

/** Whether the service has watches. It says so in the page. */
export const hasWatches = document.getElementById('app')?.dataset['watches'] !== undefined

/** The address of another page, for a link. */
export const linkTo = (page: Page, changes: Partial<Omit<Address, 'page'>> = {}): string =>
  formatAddress({ ...address.value, item: null, tab: 'overview', ...changes, page })
