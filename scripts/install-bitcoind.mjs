import { installProgram } from './install-program.mjs';

// Installs bitcoind (Bitcoin Knots) with apt.
await installProgram('bitcoind', 'installBitcoind');
