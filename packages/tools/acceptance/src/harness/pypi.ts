import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const INSTALL_TIMEOUT_MS = 300_000;

const run = promisify(execFile);

/** Thrown if a PyPI package cannot be installed on this machine. The message contains the reason. */
export class PackageUnavailableError extends Error {}

export interface PyPiPackage {
  readonly name: string;
  readonly version: string;
  readonly pythonAtLeast: readonly [major: number, minor: number];
}

/** Installs a PyPI package into its own virtual environment, unless it is already installed. Resolves with the folder
 *  of its executables. The variable PYTHON sets the interpreter (default python3). Throws PackageUnavailableError. */
export const installFromPyPi = async ({ name, version, pythonAtLeast }: PyPiPackage): Promise<string> => {
  const python = process.env.PYTHON || 'python3';
  const pythonVersion = await requirePython(python, name, pythonAtLeast);
  const environment = `${name}-${version}-python${pythonVersion}`;
  const folder = fileURLToPath(new URL(`../../../../../node_modules/.cache/${environment}`, import.meta.url));
  const executables = join(folder, 'bin');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return executables;
  console.log(`installing ${name} ${version}`);
  try {
    await run(python, ['-m', 'venv', '--clear', folder], { timeout: INSTALL_TIMEOUT_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`];
    await run(join(executables, 'python'), pip, { timeout: INSTALL_TIMEOUT_MS });
    writeFileSync(complete, '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new PackageUnavailableError(`${name} ${version} could not be installed: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return executables;
};

/** Resolves with the version of the interpreter, for example `3.12`. */
const requirePython = async (python: string, name: string, least: readonly [number, number]): Promise<string> => {
  const needed = least.join('.');
  const versionOutput = await run(python, ['-c', 'import sys, venv; print(*sys.version_info[:2])']).catch(
    (cause: unknown) => {
      throw new PackageUnavailableError(
        `${name} needs Python ${needed} or later, and ${python} cannot be run or has no venv module`,
        {
          cause,
        },
      );
    },
  );
  const [major = 0, minor = 0] = versionOutput.stdout.split(' ').map(Number);
  if (major < least[0] || (major === least[0] && minor < least[1])) {
    throw new PackageUnavailableError(`${name} needs Python ${needed} or later, and ${python} is ${major}.${minor}`);
  }
  return `${major}.${minor}`;
};

const reasonOf = (error: unknown): string =>
  (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) || String(error);
