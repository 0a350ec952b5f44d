// The citation of exactly the records of an analysis: release, day, sources and digest.
import { Outbreaks } from '@outbreak-data/client'

const outbreaks = Outbreaks.fromEnv().asOf(6)
console.log(await outbreaks.cite({ event: 'Lassa_Nigeria_2018' }))
console.log()
console.log(await outbreaks.cite({ event: 'Lassa_Nigeria_2018', format: 'bibtex' }))
