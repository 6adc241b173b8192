import { installProgram } from './install-program.mjs';

// Builds btcd with Go.
await installProgram('btcd', 'installBtcd');
