import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));
const run = promisify(execFile);

export interface EarlierVersion {
  /** The path of its launcher. */
  readonly launcher: string;
  readonly remove: () => void;
}

/** Whether the history of this checkout has the commit: a shallow clone may not. */
export const hasCommit = async (commit: string): Promise<boolean> => {
  try {
    await run('git', ['-C', CHECKOUT, 'cat-file', '-e', `${commit}^{commit}`]);
    return true;
  } catch {
    return false;
  }
};

/** Checks out a commit into a temporary folder, and installs and builds it as its own `npm start` would. Takes a minute
 *  or two. */
export const buildEarlierVersion = async (commit: string): Promise<EarlierVersion> => {
  const folder = mkdtempSync(join(tmpdir(), `cpg-${commit}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await run('git', ['clone', '--quiet', '--shared', '--no-checkout', CHECKOUT, folder]);
    await run('git', ['-C', folder, 'checkout', '--quiet', commit]);
    const setUp = `const { setUp } = await import('./scripts/setup.mjs'); await setUp();`;
    await run(process.execPath, ['--input-type=module', '--eval', setUp], {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '' },
      maxBuffer: 64 * 1024 * 1024,
    });
    return { launcher: join(folder, 'packages/local-stack/dist/main.js'), remove };
  } catch (error) {
    remove();
    throw error;
  }
};
