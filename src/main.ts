#!/usr/bin/env node
// Starts a node of the service.
import { serve } from './serve.ts'

await serve('node')
