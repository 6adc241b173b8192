import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WEBHOOK_PATH } from './options.ts';
import { CryptoPaymentsService } from './service.ts';

type RawRequest = IncomingMessage & { rawBody?: Buffer; body?: unknown; _body?: boolean };

const LARGEST_BODY = 1_000_000;

/** Receives the events of the gateway. Answers after the shop has taken them. */
@Controller(WEBHOOK_PATH)
export class WebhookController {
  private readonly service: CryptoPaymentsService;

  constructor(@Inject(CryptoPaymentsService) service: CryptoPaymentsService) {
    this.service = service;
  }

  @Post()
  async receive(@Req() request: RawRequest, @Res() response: ServerResponse): Promise<void> {
    const { status } = await this.service.shop.receive(request.rawBody ?? Buffer.alloc(0), request.headers);
    response.writeHead(status).end();
  }
}

/** Keeps the body as it came, because the signature covers its bytes, and from parsers. */
export const keepRawBody = (request: RawRequest, response: ServerResponse, next: (error?: unknown) => void): void => {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= LARGEST_BODY) chunks.push(chunk);
  });
  request.on('error', next);
  request.on('end', () => {
    if (size > LARGEST_BODY) {
      response.writeHead(413).end();
      return;
    }
    Object.assign(request, { rawBody: Buffer.concat(chunks), body: {}, _body: true });
    next();
  });
};
