import { readFile } from 'node:fs/promises';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const file = new URL('../../openapi.json', import.meta.url);

// Warnings of Redocly that do not apply.
const ACCEPTED = [
  'info-license', // The product has no public license.
  'operation-4xx-response', // Health checks have no client errors.
];

test('Redocly finds no error in the document, and no warning that applies', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: await readFile(file, 'utf8'), absoluteRef: 'openapi.json', config });
  const found = problems.map(({ severity, ruleId, message, location }) => ({
    severity,
    ruleId,
    message,
    at: location[0]?.pointer,
  }));
  expect(found.filter(({ severity, ruleId }) => severity === 'error' || !ACCEPTED.includes(ruleId))).toEqual([]);
});

test('Spectral finds nothing in the document', async () => {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [[spectralRulesets.oas as never, 'recommended']] });
  const problems = await spectral.run(JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>);
  expect(problems.map(({ code, message, path }) => ({ code, message, at: path.join('/') }))).toEqual([]);
});
