import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstExisting, onPath, toolFolder } from './binaries.ts';

export interface GoProgram {
  readonly name: string;
  /** Its package and version, as `go install` takes them. */
  readonly module: string;
  readonly tags?: readonly string[];
  /** The environment variable with the path of a program to use instead. */
  readonly variable: string;
}

/** A program that Go builds once for this user. */
export const goProgram = ({ name, module, tags = [], variable }: GoProgram) => {
  const folder = toolFolder(`${name}-${module.split('@')[1]}`);
  const built = join(folder, name);

  /** Its path: from the environment variable, built, or on the PATH; null if none. */
  const find = (): string | null => {
    const named = process.env[variable];
    return named ? firstExisting([named]) : (firstExisting([built]) ?? onPath(name));
  };
  /** Builds it into a cache folder of the user if `find` finds none. Throws Error without Go. */
  const install = (): string => {
    const found = find();
    if (found) return found;
    mkdirSync(folder, { recursive: true });
    execFileSync('go', ['install', '-tags', tags.join(), module], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-mod=mod' },
      cwd: tmpdir(),
      stdio: 'pipe',
    });
    return built;
  };
  return { find, install };
};

/** promtool of Prometheus, which tests the alarms. */
export const { find: findPromtool, install: installPromtool } = goProgram({
  name: 'promtool',
  module: 'github.com/prometheus/prometheus/cmd/promtool@v0.316.0',
  // Without the clients of cloud providers, which make it several times as large. With DNS, which prometheus.yml uses.
  tags: ['remove_all_sd', 'enable_dns_sd'],
  variable: 'PROMTOOL_BIN',
});
