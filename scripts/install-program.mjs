import { setUp } from './setup.mjs';

/** Installs a program for tests by a function of packages/engines/local-chain. Without it, those tests are skipped. */
export const installProgram = async (name, functionName) => {
  await setUp();
  const localChain = await import('../packages/engines/local-chain/dist/index.js');
  try {
    console.log(`${name}: ${localChain[functionName]()}`);
  } catch (error) {
    console.log(`${name} could not be installed, so tests with it are skipped: ${error.message}`);
  }
};
