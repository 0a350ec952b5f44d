// npm run synth: writes a synthetic release for tests and benchmarks.
import { Command, InvalidArgumentError } from 'commander'
import { writeSynthRelease } from './synthesise.ts'

await new Command('synth')
  .description('write a synthetic release, for tests and benchmarks')
  .requiredOption('--records <number>', 'number of records', parseCount)
  .requiredOption('--out <directory>', 'output directory')
  .option('--seed <number>', 'the same seed gives the same bytes', parseCount, 1)
  .option('--release <number>', 'the state after this many releases, each of which changes about 1%', parseCount, 1)
  .action(async ({ out, ...plan }: { records: number; seed: number; release: number; out: string }) =>
    console.log(JSON.stringify({ directory: out, ...(await writeSynthRelease(plan, out)) }, null, 2)),
  )
  .parseAsync()

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 999999999')
  return Number(text)
}
