import { goProgram } from './go-program.ts';

/** promtool of Prometheus, which tests the alarms. */
export const { find: findPromtool, install: installPromtool } = goProgram({
  name: 'promtool',
  module: 'github.com/prometheus/prometheus/cmd/promtool@v0.316.0',
  // Without the clients of cloud providers, which make it several times as large.
  tags: ['remove_all_sd', 'enable_dns_sd'],
  variable: 'PROMTOOL_BIN',
});
