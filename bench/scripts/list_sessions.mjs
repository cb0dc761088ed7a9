// The official function that lists the sessions of a project, one per line.
import { pathToFileURL } from 'node:url';

const { listSessions } = await import(pathToFileURL(`${process.env.FALCONER_TS_SDK}/sdk.mjs`));
for (const session of await listSessions({ dir: process.argv[2] })) {
  console.log(session.sessionId, session.summary);
}
