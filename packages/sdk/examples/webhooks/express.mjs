import express from 'express';
import { verify, WebhookVerificationError } from '@cpg/sdk/webhooks';

export const app = express();

// Register this route before app.use(express.json()), which would parse the body. Without a limit, Express refuses
// bodies of more than 100 kB; those of the gateway have up to 1 MB.
app.post('/hook', express.raw({ type: 'application/json', limit: '1mb' }), (request, response) => {
  try {
    const event = verify(request.body, request.headers, process.env.WEBHOOK_SECRET);
    // In a shop: await store(db, event), which acts on an event once.
    if (event.event === 'order:paid') console.log(`${event.data.external_reference_id} is paid`);
    response.sendStatus(204);
  } catch (error) {
    response.sendStatus(error instanceof WebhookVerificationError ? 400 : 500);
  }
});
