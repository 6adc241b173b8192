import { setUp } from './setup.mjs';

// Installs bitcoind (Bitcoin Knots) with apt. Without it, tests on this node are skipped.
await setUp();
const { installBitcoind } = await import('../packages/local-chain/dist/index.js');
try {
  console.log(`bitcoind: ${installBitcoind()}`);
} catch (error) {
  console.log(`bitcoind could not be installed, so tests on it are skipped: ${error.message}`);
}
