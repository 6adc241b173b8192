import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files of the checkout that Git tracks or would track, as they are now. */
export const filesOf = (checkout: string): string[] =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: checkout,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(checkout, path)));

/** Copies the files, and links the dependencies, so that packages of the workspace resolve to each other's copies.
 *  Built files are linked: tests that run them see no change. */
export const copyCheckout = (checkout: string, files: readonly string[], copy: string): void => {
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(checkout, file), join(copy, file), { verbatimSymlinks: true });
  }
  linkModules(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  for (const manifest of files.filter((file) => /.\/package\.json$/.test(file))) {
    const folder = dirname(manifest);
    linkModules(join(checkout, folder, 'node_modules'), join(copy, folder, 'node_modules'));
    const built = join(checkout, folder, 'dist');
    if (existsSync(built)) symlinkSync(built, join(copy, folder, 'dist'));
  }
};

/** pnpm links by relative paths, which lead to the same place of the copy. */
const linkModules = (from: string, to: string): void => {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (lstatSync(path).isSymbolicLink()) symlinkSync(readlinkSync(path), join(to, name));
    else if (name.startsWith('@')) linkModules(path, join(to, name));
    else symlinkSync(path, join(to, name));
  }
};
