import { type Socket, connect } from 'node:net';
import { once } from 'node:events';
import { RequestReader } from '../protocol/request-reader.ts';
import { ResponseWriter } from '../protocol/response-writer.ts';

/** Sends single requests, also those that kafkajs never sends. The reader and the writer of the broker swap their roles
 *  here. */
export class RawClient {
  private readonly socket: Socket;
  private readonly waiting: ((response: RequestReader) => void)[] = [];
  private buffered = Buffer.alloc(0);
  private correlationId = 0;
  /** The correlation ids of the responses, in the order of arrival. */
  readonly answered: number[] = [];
  readonly closed: Promise<unknown>;

  static async connect(brokers: string): Promise<RawClient> {
    const [host, port] = brokers.split(',')[0]!.split(':');
    const socket = connect(Number(port), host);
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((done) => socket.on('close', done));
    socket.on('error', () => {}); // the event "close" follows
    socket.on('data', (chunk) => this.receive(chunk));
  }

  /** Sends a request. Resolves to the response, after its header. */
  request(
    key: number,
    version: number,
    write: (body: ResponseWriter) => void,
    flexible = false,
  ): Promise<RequestReader> {
    const answer = new Promise<RequestReader>((done) => this.waiting.push(done));
    this.send(key, version, write, flexible);
    return answer;
  }

  send(key: number, version: number, write: (body: ResponseWriter) => void, flexible = false): void {
    const request = new ResponseWriter();
    request
      .int16(key)
      .int16(version)
      .int32((this.correlationId += 1))
      .string('raw');
    request.flexible = flexible;
    request.taggedFields();
    write(request);
    const bytes = Buffer.concat(request.toBuffers());
    this.sendBytes(Buffer.concat([Buffer.from([0, 0, 0, 0]), bytes]), bytes.length);
  }

  sendBytes(bytes: Buffer, length?: number): void {
    if (length !== undefined) bytes.writeInt32BE(length);
    this.socket.write(bytes);
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    this.buffered = Buffer.concat([this.buffered, chunk]);
    while (this.buffered.length >= 4 && this.buffered.length >= 4 + this.buffered.readInt32BE()) {
      const length = this.buffered.readInt32BE();
      const response = new RequestReader(this.buffered.subarray(4, 4 + length));
      this.buffered = this.buffered.subarray(4 + length);
      this.answered.push(response.int32());
      this.waiting.shift()?.(response);
    }
  }
}

/** Errors of a broker that is starting or still finishes an earlier request. */
const RETRIABLE_ERRORS = [5, 6, 14, 15, 16, 51];

/** Repeats a request until its error is not retriable. */
export const retry = async <T extends { error: number }>(ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    const answer = await ask();
    if (!RETRIABLE_ERRORS.includes(answer.error)) return answer;
    await new Promise((done) => setTimeout(done, 20));
  }
};

const GROUP = 0;
export const TRANSACTION = 1;

/** Waits until there is a coordinator. Apache Kafka elects it at the first request. */
export const findCoordinator = (client: RawClient, name: string, type: number) =>
  retry(async () => {
    const response = await client.request(10, 1, (body) => body.string(name).int8(type));
    response.int32();
    return { error: response.int16() };
  });

/** Commits an offset for partition 0, as a consumer outside of the group. Resolves to the error code.
 *  (The admin client of kafkajs joins the group for it, which takes seconds.) */
export const commitOffset = (brokers: string, groupId: string, topic: string, offset: number): Promise<number> =>
  onConnection(brokers, async (client) => {
    await findCoordinator(client, groupId, GROUP);
    return (await retry(() => tryToCommit(client, groupId, topic, offset))).error;
  });

/** Like `commitOffset`, but does not retry. */
export const commitOffsetOnce = (brokers: string, groupId: string, topic: string, offset: number): Promise<number> =>
  onConnection(brokers, async (client) => (await tryToCommit(client, groupId, topic, offset)).error);

/** Runs `act` with a new connection, then closes it. */
export const onConnection = async <T>(brokers: string, act: (client: RawClient) => Promise<T>): Promise<T> => {
  const client = await RawClient.connect(brokers);
  try {
    return await act(client);
  } finally {
    client.close();
  }
};

const tryToCommit = async (client: RawClient, groupId: string, topic: string, offset: number) => {
  const response = await client.request(8, 2, (body) => {
    body.string(groupId).int32(-1).string('').int64(-1);
    body.array([topic], (name) => body.string(name).array([0], (at) => body.int32(at).int64(offset).string('')));
  });
  response.int32(); // one topic
  response.string();
  response.int32(); // one partition
  response.int32();
  return { error: response.int16() };
};
