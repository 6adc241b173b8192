import { readStackFiles, type StackFiles } from './stack-files.ts';

/** The stack that all acceptance tests share. */
export const sharedStack = (): StackFiles => {
  const dataDir = process.env.ACCEPTANCE_DATA_DIR;
  if (!dataDir) throw new Error('no stack is running: run these tests as the jest project "acceptance"');
  return readStackFiles(dataDir);
};
