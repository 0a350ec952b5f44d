// The address of Redis or Valkey: one server, the group that Sentinel watches, or a cluster.
//   redis://user:password@host:6379/0      rediss:// with TLS
//   redis+sentinel://one:26379,two:26379/group
//   redis+cluster://one:6379,two:6379

interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster'
  readonly hosts: { host: string; port: number }[]
  /** The name of the group that Sentinel watches. */
  readonly name: string
  readonly login: { username?: string; password?: string }
}

const SINGLE = /^rediss?:\/\/[^/?#]+(\/\d{0,4})?$/
const SEVERAL =
  /^redis\+(?<kind>sentinel|cluster):\/\/(?:(?<user>[^:@/]*):(?<password>[^@/]*)@)?(?<hosts>[^/?#@]+)(?:\/(?<name>[\w.-]+))?$/
const PORTS = { sentinel: 26_379, cluster: 6379 }

/** Throws if it is not valid. Parameters are not allowed, because they could override the timeouts. */
export function parseRedisUrl(url: string): RedisAddress {
  if (SINGLE.test(url) && URL.canParse(url)) return { kind: 'single', hosts: [], name: '', login: {} }
  const { kind, user, password, hosts = '', name = '' } = SEVERAL.exec(url)?.groups ?? {}
  if ((kind !== 'sentinel' && kind !== 'cluster') || (kind === 'sentinel') !== (name !== ''))
    throw new Error(
      'must be redis://host:port/number, rediss://…, redis+sentinel://host:port,host:port/group or redis+cluster://host:port,host:port',
    )
  return {
    kind,
    name,
    hosts: hosts.split(',').map((text) => {
      const { hostname, port } = new URL(`redis://${text}`)
      return { host: hostname, port: port === '' ? PORTS[kind] : Number(port) }
    }),
    login: {
      ...(user ? { username: decodeURIComponent(user) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
    },
  }
}
