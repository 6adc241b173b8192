import { BITCOIN_NODE_NAMES, type BitcoinNodeName, canTestOn } from '@cpg/local-chain';

/** Describes tests on each Bitcoin node. Where a node is missing, they are counted as skipped. */
export const onEachBitcoinNode = (title: string, tests: (name: BitcoinNodeName) => void): void => {
  for (const name of BITCOIN_NODE_NAMES)
    (canTestOn(name, 'tests of Bitcoin deposits') ? describe : describe.skip)(`${title}, by ${name}`, () =>
      tests(name),
    );
};
