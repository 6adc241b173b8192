import { installProgram } from './install-program.mjs';

// Builds btcd with Go. btcd is a Bitcoin node like bitcoind, and tests run on both.
await installProgram('btcd', 'installBtcd');
