import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const INSTALL_WITHIN_MS = 300_000;

const run = promisify(execFile);

/** A PyPI package cannot be installed on this machine. The message is the reason. */
export class NoPackage extends Error {}

export interface PyPiPackage {
  readonly name: string;
  readonly version: string;
  readonly pythonAtLeast: readonly [major: number, minor: number];
}

/** Installs a PyPI package into its own virtual environment, unless it is there already. Resolves with the folder of
 *  its programs. PYTHON names the interpreter (default python3). Throws NoPackage. */
export const installFromPyPi = async ({ name, version, pythonAtLeast }: PyPiPackage): Promise<string> => {
  const python = process.env.PYTHON || 'python3';
  await requirePython(python, name, pythonAtLeast);
  const folder = fileURLToPath(new URL(`../../../../node_modules/.cache/${name}-${version}`, import.meta.url));
  const programs = join(folder, 'bin');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return programs;
  console.log(`installing ${name} ${version}`);
  try {
    await run(python, ['-m', 'venv', '--clear', folder], { timeout: INSTALL_WITHIN_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`];
    await run(join(programs, 'python'), pip, { timeout: INSTALL_WITHIN_MS });
    writeFileSync(complete, '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new NoPackage(`${name} ${version} could not be installed: ${reasonOf(error)}`, { cause: error });
  }
  return programs;
};

const requirePython = async (python: string, name: string, least: readonly [number, number]): Promise<void> => {
  const needed = least.join('.');
  const asked = await run(python, ['-c', 'import sys, venv; print(*sys.version_info[:2])']).catch((cause: unknown) => {
    throw new NoPackage(`${name} needs Python ${needed} or later with venv, and ${python} does not run`, { cause });
  });
  const [major = 0, minor = 0] = asked.stdout.split(' ').map(Number);
  if (major < least[0] || (major === least[0] && minor < least[1])) {
    throw new NoPackage(`${name} needs Python ${needed} or later, and ${python} is ${major}.${minor}`);
  }
};

const reasonOf = (error: unknown): string =>
  (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) || String(error);
