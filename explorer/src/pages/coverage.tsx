// Where and when there are reports, for all places.
import { PERIODS } from '../address.ts'
import { CoveragePanel } from '../panels/coverage.tsx'
import { Segmented } from '../parts/choose.tsx'
import { setView, view } from '../state.ts'

const LEVELS = ['country_code', 'al1_code'] as const

export function CoveragePage({ release }: { release: number }) {
  const { period, level } = view.value
  const shown = level === 'al1_code' ? 'al1_code' : 'country_code'
  return (
    <div class="wrap cover">
      <div class="head">
        <div class="head-row">
          <div>
            <h1>Where and when there are reports</h1>
            <p>
              The stronger the colour, the more reports. Hatched: no report, which says nothing about cases. Orange
              frame: new or changed in release {release}.
            </p>
          </div>
          <div class="group">
            <Segmented
              label="Places"
              value={shown}
              options={LEVELS}
              names={{ country_code: 'Countries', al1_code: 'States of the US' }}
              onChoose={(chosen) => setView({ level: chosen })}
            />
            <Segmented
              label="Period"
              value={period}
              options={PERIODS}
              names={{ year: 'Year', month: 'Month' }}
              onChoose={(chosen) => setView({ period: chosen })}
            />
          </div>
        </div>
      </div>
      <div class="section">
        <CoveragePanel release={release} level={shown} interval={period} />
      </div>
    </div>
  )
}
