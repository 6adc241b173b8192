/** The meaning of an error of a node.
 *  `busy`: it refuses for now. Wait, or ask another node.
 *  `too_large`: the answer exceeds its limits. Ask another node.
 *  `no_method`: it does not have the method. `no_state`: it does not have the state or traces of the block.
 *  `reverted`: the call was executed, and failed.
 *  `unknown`: says nothing about the chain. Try again, and tell an operator. */
export type RpcErrorClass = 'busy' | 'too_large' | 'no_method' | 'no_state' | 'reverted' | 'unknown';

/** The first row that matches decides. Providers use one code for different errors, so texts come before codes.
 *  A wrong class costs a retry. No class halts a chain or shows that a block or a transfer does not exist. */
const CLASSES: readonly (readonly [RpcErrorClass, RegExp | readonly number[]])[] = [
  // Geth and EIP-1474 (3); Nethermind and OpenEthereum (-32015).
  ['reverted', [3, -32_015]],
  // Infura answers -32005 to both too many results and too many requests. Sources: documentation of errors of Infura,
  // Alchemy, QuickNode and Chainstack; eRPC, architecture/evm/error_normalizer.go, which collects their texts.
  ['too_large', /more than [\d,]+ (results|logs)|block range|range (is )?too|exceeds max results/i],
  ['too_large', /(response|query|result) (size|(is )?too (large|big))/i],
  ['busy', /rate.?limit|too many (requests|connections)|request limit|limit (was |has been |is )?(reached|exhausted)/i],
  [
    'busy',
    /(capacity|quota|compute units?|request count|cost limit).{0,40}exceed|exceed.{0,60}(capacity|quota|limit)/i,
  ],
  ['busy', /reached the (free tier|quota)|overload|too much load|throttl|try again|retry (in|after)/i],
  // Bitcoin Core while it starts, and a full queue: src/rpc/protocol.h, src/httpserver.cpp. Timeouts of geth and
  // Nethermind.
  ['busy', /loading block index|verifying blocks|rewinding|initial (block )?download|work queue depth/i],
  ['busy', /timed? ?out|(still|is) syncing|initial sync/i],
  ['reverted', /revert|vm execution|vm exception|invalid opcode|out of gas/i],
  [
    'no_method',
    /(method|\b(eth|debug|trace)_\w+).{0,80}(not|n't|un).?(found|exist|available|supported|allowed|permitted)/i,
  ],
  [
    'no_method',
    /unsupported method|unknown method|not included in your|not whitelisted|(module|namespace).{0,40}disabled/i,
  ],
  ['no_state', /missing trie node|no (state|traces?|history) available|reexec|archive/i],
  [
    'no_state',
    /(state|trace|history|data).{0,40}(not (found|available)|unavailable|pruned|missing)|resource not found/i,
  ],
  // JSON-RPC 2.0, "Error object", and EIP-1474: method not found, method not supported; resource not found.
  ['no_method', [-32_601, -32_004]],
  ['no_state', [-32_001]],
  // EIP-1474 -32005 limit exceeded (Infura, Nethermind, Tenderly), -32002 resource unavailable (geth: timeout).
  // -32007 QuickNode, -32016 and -32017 Nethermind (timeouts) and Base ("over rate limit"), -32029 and -32097 of
  // gateways that mirror HTTP 429, -32090 Ankr, -32605 and -32607 BlockVision, 429 Alchemy, Ankr and QuickNode.
  ['busy', [-32_005, -32_002, -32_007, -32_016, -32_017, -32_029, -32_090, -32_097, -32_605, -32_607, 429, 503]],
  // Bitcoin Core, src/rpc/protocol.h: in warmup, in initial download, not connected, out of memory.
  ['busy', [-28, -10, -9, -7]],
  // Geth, rpc/errors.go.
  ['too_large', [-32_003]],
];

/** No node needs more to say what is wrong. The patterns would take a minute for the longest answer. */
const LONGEST_MESSAGE = 2_000;

/** The class of a JSON-RPC error by its code and the beginning of its message. */
export const rpcErrorClass = (code: number, message: string): RpcErrorClass => {
  const text = message.slice(0, LONGEST_MESSAGE);
  return (
    CLASSES.find(([, match]) => (match instanceof RegExp ? match.test(text) : match.includes(code)))?.[0] ?? 'unknown'
  );
};

// RFC 9110 and 6585. 5xx of a proxy says nothing about the node behind it.
const isBusyStatus = (status: number): boolean => [408, 425, 429].includes(status) || (status >= 500 && status !== 501);

/** The class of an HTTP status without an answer of JSON-RPC. */
export const statusClass = (status: number): 'busy' | 'too_large' | 'unknown' =>
  isBusyStatus(status) ? 'busy' : status === 413 ? 'too_large' : 'unknown';

const LONGEST_WAIT_MS = 300_000;

/** How long a node asks to wait: by the header `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), or by the
 *  `backoff_seconds` of Infura. Null if it does not say. At most five minutes. */
export const retryAfterMs = (header: string | undefined, data: unknown, nowMs: number): number | null => {
  const seconds = Number(header ?? backoffSeconds(data) ?? NaN);
  const waitMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header ?? '') - nowMs;
  return waitMs >= 0 ? Math.min(waitMs, LONGEST_WAIT_MS) : null;
};

const backoffSeconds = (data: unknown): unknown =>
  (data as { rate?: { backoff_seconds?: unknown } } | null | undefined)?.rate?.backoff_seconds;
