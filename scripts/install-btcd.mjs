import { setUp } from './setup.mjs';

// Builds btcd for the tests on a Bitcoin node, where Go is there. Without it those tests are skipped.
await setUp();
const { installBtcd } = await import('../packages/local-chain/dist/index.js');
try {
  console.log(`btcd: ${installBtcd()}`);
} catch (error) {
  console.log(`btcd could not be built, so tests on it are skipped: ${error.message}`);
}
