import { appendFileSync } from 'node:fs';

// A setup file of Jest: `mutationHit` records which test file reaches a mutant, in the file that MUTATION_HITS names.
declare global {
  var mutationHit: ((mutant: number) => void) | undefined;
}

const seen = new Set<number>();
globalThis.mutationHit = (mutant) => {
  if (seen.has(mutant)) return;
  seen.add(mutant);
  appendFileSync(process.env.MUTATION_HITS!, `${mutant}\t${expect.getState().testPath}\n`);
};
