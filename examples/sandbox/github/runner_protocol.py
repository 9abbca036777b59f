"""The stand-in runner's private protocol: JSON over HTTP, prefix `/_runner`.

The real runner talks to services that GitHub does not document; this is the least that stands for
them. Refusals have GitHub's error body `{"message", "documentation_url", "status"}`. Apart from
`register` every call sends `Authorization: Bearer CREDENTIAL`; an unknown credential is 401, and so
is one whose registration was deleted (message "The runner registration has been deleted from the
server, please re-configure."), except for `GET`/`complete` of a job that the runner had acquired.

`POST /_runner/register`                                               (config.sh, no credential)
    {"url": "http://127.0.0.1:PORT/octo-org/gpu-tests",   also ".../octo-org" for an organization
     "token": "A...",                                     a registration token of that very scope
     "name": "runner-1", "labels": ["a", "b"],
     "ephemeral": true, "replace": false, "no_default_labels": false,
     "os": "linux"|"win"|"osx", "arch": "x64"|"arm64"|"arm", "version": "2.335.1"}
    201 {"id": 25640001, "name": "runner-1", "credential": "...", "labels": ["self-hosted", ...]}
    404 token unknown, expired, a remove token, or of another scope: {"message": "Not Found"}
    409 the name is taken and `replace` is false:
        {"message": "Already exists - A runner with the name NAME already exists."}
    422 no name, or a label that is empty or longer than 256 characters
    With `replace` the record of that name keeps its id and gets the new labels and credential.

`POST /_runner/remove`  {"token": "A..."}                                   (config.sh remove)
    204 removed | 404 remove token unknown, expired or of another scope

`POST /_runner/session`  {"os", "arch", "version"}, all optional; a JIT runner must send them
    200 {"id": 25640001, "name": "runner-1", "ephemeral": true}           the runner is online
    409 another process holds the session: {"message": "A session for this runner already exists."}
    A session without any call (a call under way counts) for `Knobs.offline_after` seconds (120) is
    given up: the runner goes offline, and a new session may begin.
`DELETE /_runner/session`
    204 the runner is offline

`GET /_runner/message?wait=50`                                     (seconds, at most 60, default 50)
    200 {"job": {"id": 1, "run_id": 2, "run_attempt": 1, "repository": "octo-org/gpu-tests",
                 "name": "test", "labels": ["a"], "workflow_name": "CI"}}
        sent to this runner and to be acquired within 60 s; a repeated call repeats it
    204 nothing in that time
    401 deleted meanwhile (an ephemeral runner after its job, too) | 409 no session

`POST /_runner/jobs/{id}/acquire`
    200 {"job": {...as above}}     REST now says busy and in_progress
    409 the job was not, or is no longer, meant for this runner (re-queued, cancelled)

`GET /_runner/jobs/{id}?wait=50`                               (answers at once without `wait`)
    200 {"id": 1, "status": "in_progress"|"completed", "conclusion": null|"success"|...,
         "cancel_requested": false}
        returns as soon as the job is completed (somebody outside finished it) or to be cancelled
    404 not a job of this runner

`POST /_runner/jobs/{id}/complete`  {"conclusion": "success"|"failure"|"cancelled"}
    200 {"id": 1, "status": "completed", "conclusion": "..."}
        again, or after somebody outside finished it: 200 with the conclusion that stands.
    After it an ephemeral runner is removed, a persistent one is idle.

`DELETE /_runner/session` of a removed runner is 204 too. A runner started with
`--jitconfig CONFIG` finds its credential in the JSON object that CONFIG is in base64:
`.credentials` is base64 of {"scheme": "OAuth", "data": {"credential": "..."}} and `.runner` of
{"agentId", "agentName", "serverUrl", "gitHubUrl", "ephemeral": true}.
"""

from __future__ import annotations
