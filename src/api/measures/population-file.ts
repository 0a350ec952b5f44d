// Reads the population table: the one of the repository, or the operator's.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type PopulationTable, parsePopulation } from '../../methods/population.ts'

const OWN_FILE = path.resolve(import.meta.dirname, '../../../reference/population.csv')

/** Throws if the file is no such table. */
export const readPopulationFile = (file = OWN_FILE): PopulationTable => parsePopulation(readFileSync(file, 'utf8'))
