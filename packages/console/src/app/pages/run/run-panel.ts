import type { ActionRun } from "../../actions/actions.ts";
import type { RunDetail } from "../../data/api-types.ts";
import { runTitle } from "../../format/titles.ts";
import type { KeyWindow } from "../../pictures/window.ts";

/** What every panel of a run gets. */
export interface RunPanelProps {
  readonly run: string;
  readonly tenant: string;
  readonly detail: RunDetail;
  readonly window: KeyWindow;
  readonly onWindow: (window: KeyWindow) => void;
}

export function actionRunOf(detail: RunDetail): ActionRun {
  return { tenant: detail.tenant, run: detail.run, title: runTitle(detail) };
}
