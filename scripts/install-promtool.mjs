import { installProgram } from './install-program.mjs';

// Builds promtool of Prometheus with Go.
await installProgram('promtool', 'installPromtool');
