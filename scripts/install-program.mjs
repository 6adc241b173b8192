import { importBuilt, setUp } from './setup.mjs';

/** Installs a program for tests by a function of packages/engines/local-chain. Without it, those tests are skipped.
 *  @type {(name: string, functionName: string) => Promise<void>} */
export const installProgram = async (name, functionName) => {
  await setUp();
  const localChain = await importBuilt('packages/engines/local-chain/dist/index.js');
  try {
    console.log(`${name}: ${localChain[functionName]()}`);
  } catch (error) {
    console.log(
      `${name} could not be installed, so tests with it are skipped, or fail if REQUIRED_PROGRAMS names it: ${/** @type {Error} */ (error).message}`,
    );
  }
};
