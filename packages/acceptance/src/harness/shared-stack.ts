import { readStackFiles, type StackFiles } from './stack-files.ts';

/** The stack that was started for all test files. */
export const sharedStack = (): StackFiles => {
  const dataDir = process.env.ACCEPTANCE_DATA_DIR;
  if (!dataDir) throw new Error('no stack was started: run these tests as the jest project "acceptance"');
  return readStackFiles(dataDir);
};
