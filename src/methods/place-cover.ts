// Chooses places that cover a larger place without overlap: a place with its own counts, or else the places within it.
// docs/methods.md, section 8. Pure.

interface PlacedSeries {
  /** The position in the tree of places, from the top; null if it has none. */
  readonly path: readonly string[] | null
  /** Whether the series has a report in the range of the query, and whether it has one on its last day or earlier. */
  readonly reports: boolean
  readonly known: boolean
}

interface Node<Item> {
  readonly items: Item[]
  readonly children: Map<string, Node<Item>>
}

const createNode = <Item>(): Node<Item> => ({ items: [], children: new Map() })

export interface Cover<Item> {
  readonly taken: readonly Item[]
  /** Series of places that other places cover, or may cover. */
  readonly covered: readonly Item[]
  /** Series that have no position in the tree. */
  readonly unplaced: readonly Item[]
  /** True if a place is silent and others stand for it: no one knows how much of it they are. */
  readonly isPartial: boolean
}

export function chooseCover<Item extends PlacedSeries>(series: readonly Item[]): Cover<Item> {
  const root = createNode<Item>()
  const unplaced: Item[] = []
  for (const item of series) {
    if (item.path === null) unplaced.push(item)
    else findNode(root, item.path).items.push(item)
  }
  const taken = new Set<Item>()
  let isPartial = false
  const visit = (node: Node<Item>): void => {
    const { items } = node
    const isKnown = items.some(({ known }) => known)
    // A place that is silent in the range still counts with what it reported before, unless places within it report.
    const isUsed = isKnown && (items.some(({ reports }) => reports) || !reportsWithin(node))
    if (isUsed || !isKnown) for (const item of items) taken.add(item)
    if (isUsed) return
    if (isKnown) isPartial = true
    const { chosen, others } = splitByLevel(node)
    for (const child of chosen) visit(child)
    for (const child of others) {
      if (hasItem(child, ({ known }) => known)) isPartial = true
      else addAll(child, taken)
    }
  }
  visit(root)
  const placed = series.filter(({ path }) => path !== null)
  return { taken: [...taken], covered: placed.filter((item) => !taken.has(item)), unplaced, isPartial }
}

const LEVELS = ['country', 'admin1', 'admin2', 'admin3', 'locality']

/**
 * A town whose county is unknown may be in a county that reports. So of the places directly within a place, those of one level
 * are used: the coarsest that reports in the range or, if none does, the coarsest with an earlier count.
 */
function splitByLevel<Item extends PlacedSeries>({ children }: Node<Item>) {
  const byLevel = Map.groupBy(children, ([step]) => step.split(' ', 1)[0] ?? '')
  const levels = [...byLevel.keys()].sort((a, b) => LEVELS.indexOf(a) - LEVELS.indexOf(b))
  const nodesOf = (level: string) => (byLevel.get(level) ?? []).map(([, node]) => node)
  const hasAny = (level: string, test: (item: Item) => boolean) => nodesOf(level).some((node) => hasItem(node, test))
  const best =
    levels.find((level) => hasAny(level, ({ reports }) => reports)) ??
    levels.find((level) => hasAny(level, ({ known }) => known))
  return {
    chosen: best === undefined ? levels.flatMap(nodesOf) : nodesOf(best),
    others: best === undefined ? [] : levels.filter((level) => level !== best).flatMap(nodesOf),
  }
}

const hasItem = <Item>({ items, children }: Node<Item>, test: (item: Item) => boolean): boolean =>
  items.some(test) || [...children.values()].some((child) => hasItem(child, test))

const reportsWithin = <Item extends PlacedSeries>({ children }: Node<Item>): boolean =>
  [...children.values()].some((child) => hasItem(child, ({ reports }) => reports))

function addAll<Item>({ items, children }: Node<Item>, taken: Set<Item>): void {
  for (const item of items) taken.add(item)
  for (const child of children.values()) addAll(child, taken)
}

function findNode<Item>(root: Node<Item>, path: readonly string[]): Node<Item> {
  let node = root
  for (const step of path) {
    const child = node.children.get(step) ?? createNode<Item>()
    node.children.set(step, child)
    node = child
  }
  return node
}
