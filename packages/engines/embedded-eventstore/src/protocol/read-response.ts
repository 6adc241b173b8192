import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { RecordedEvent } from '../events.ts';
import type { ReadMessage } from '../read-message.ts';
import { contentTypeOf, streamIdentifier } from './messages.ts';
import { type UuidForm, uuidMessage } from './uuids.ts';

const { ReadResp } = streamsPb;
const { ReadEvent } = ReadResp;

/** Event ids are written in the form that the client asked for. */
export const readResponse = (message: ReadMessage, uuids: UuidForm): streamsPb.ReadResp => {
  const response = new ReadResp();
  switch (message.kind) {
    case 'event': {
      const event = new ReadEvent();
      event.setEvent(recordedEvent(message.event, uuids));
      event.setCommitPosition(String(message.event.position));
      response.setEvent(event);
      return response;
    }
    case 'confirmation': {
      const confirmation = new ReadResp.SubscriptionConfirmation();
      confirmation.setSubscriptionId(message.subscriptionId);
      response.setConfirmation(confirmation);
      return response;
    }
    case 'checkpoint': {
      const checkpoint = new ReadResp.Checkpoint();
      checkpoint.setCommitPosition(String(message.position));
      checkpoint.setPreparePosition(String(message.position));
      response.setCheckpoint(checkpoint);
      return response;
    }
    case 'caught-up':
      response.setCaughtUp(new ReadResp.CaughtUp());
      return response;
    case 'stream-not-found': {
      const notFound = new ReadResp.StreamNotFound();
      notFound.setStreamIdentifier(streamIdentifier(message.stream));
      response.setStreamNotFound(notFound);
      return response;
    }
    case 'first-stream-position':
      response.setFirstStreamPosition(String(message.revision));
      return response;
    case 'last-stream-position':
      response.setLastStreamPosition(String(message.revision));
      return response;
  }
};

const recordedEvent = (event: RecordedEvent, uuids: UuidForm): streamsPb.ReadResp.ReadEvent.RecordedEvent => {
  const message = new ReadEvent.RecordedEvent();
  message.setId(uuidMessage(event.id, uuids));
  message.setStreamIdentifier(streamIdentifier(event.stream));
  message.setStreamRevision(String(event.revision));
  message.setPreparePosition(String(event.position));
  message.setCommitPosition(String(event.position));
  const properties = message.getMetadataMap();
  properties.set('type', event.type);
  properties.set('created', String(event.createdTicks));
  properties.set('content-type', contentTypeOf(event));
  message.setData(event.data);
  message.setCustomMetadata(event.metadata);
  return message;
};
