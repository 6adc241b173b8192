import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findPromtool, reportSkipped } from '@cpg/local-chain';

const MONITORING = join(import.meta.dirname, '../../../../deploy/monitoring');
const promtool = findPromtool();
if (!promtool)
  reportSkipped(
    'tests of alarms are skipped: promtool is missing; node scripts/install-promtool.mjs builds it with Go',
  );

/** Throws Error with the output of promtool if it finds a fault. */
const run = (...args: string[]) => execFileSync(promtool!, args, { cwd: MONITORING, encoding: 'utf8', stdio: 'pipe' });

(promtool ? describe : describe.skip)('the files of Prometheus, by promtool', () => {
  test('are a valid configuration with valid rules', () => {
    expect(run('check', 'config', '--syntax-only', 'prometheus.yml')).toContain('SUCCESS');
    expect(run('check', 'rules', 'chain-alerts.yml', 'service-alerts.yml')).toContain('SUCCESS');
  });

  test('raise each alarm when they should, and none while all works', () => {
    expect(run('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  });
});
