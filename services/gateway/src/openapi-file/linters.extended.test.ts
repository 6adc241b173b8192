import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const file = new URL('../../openapi.json', import.meta.url);

test('Redocly finds nothing in the document', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: await readFile(file, 'utf8'), absoluteRef: 'openapi.json', config });
  const found = problems.map(({ severity, ruleId, message, location }) => ({
    severity,
    ruleId,
    message,
    at: location[0]?.pointer,
  }));
  expect(found).toEqual([]);
});

test('Spectral finds nothing in the document', async () => {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [[spectralRulesets.oas as never, 'recommended']] });
  const problems = await spectral.run(JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>);
  expect(problems.map(({ code, message, path }) => ({ code, message, at: path.join('/') }))).toEqual([]);
});
