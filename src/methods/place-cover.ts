// Chooses places that cover a larger place without overlap: a place with counts of its own, or else the places within it.
// docs/methods.md, section 8. Pure.

interface PlacedSeries {
  /** The position in the tree of places, from the top; null if it has none. */
  readonly path: readonly string[] | null
  /** Whether the series has a report in the range of the question, and whether it has one on its last day or earlier. */
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
  /** Series of places that other places cover. */
  readonly covered: readonly Item[]
  /** Series that have no position in the tree. */
  readonly unplaced: readonly Item[]
}

export function chooseCover<Item extends PlacedSeries>(series: readonly Item[]): Cover<Item> {
  const root = createNode<Item>()
  const unplaced: Item[] = []
  for (const item of series) {
    if (item.path === null) unplaced.push(item)
    else findNode(root, item.path).items.push(item)
  }
  const taken = new Set<Item>()
  const visit = (node: Node<Item>): void => {
    const { items, children } = node
    const isKnown = items.some(({ known }) => known)
    // A place that is silent in the range still counts with what it reported before, unless places within it report.
    const isUsed = isKnown && (items.some(({ reports }) => reports) || !reportsWithin(node))
    if (isUsed || !isKnown) for (const item of items) taken.add(item)
    if (!isUsed) for (const child of children.values()) visit(child)
  }
  visit(root)
  const placed = series.filter(({ path }) => path !== null)
  return { taken: [...taken], covered: placed.filter((item) => !taken.has(item)), unplaced }
}

const reportsWithin = <Item extends PlacedSeries>({ children }: Node<Item>): boolean =>
  [...children.values()].some((child) => child.items.some(({ reports }) => reports) || reportsWithin(child))

function findNode<Item>(root: Node<Item>, path: readonly string[]): Node<Item> {
  let node = root
  for (const step of path) {
    const child = node.children.get(step) ?? createNode<Item>()
    node.children.set(step, child)
    node = child
  }
  return node
}
