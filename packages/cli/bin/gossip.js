#!/usr/bin/env node
// The command's entry. It is committed, so that the package manager can link it before the first build.
import "../dist/command/gossip.mjs";
