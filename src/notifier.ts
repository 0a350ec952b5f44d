#!/usr/bin/env node
// Starts the notifier: it judges watches after each release and serves their routes. Several can run.
import { serve } from './serve.ts'

await serve('notifier')
