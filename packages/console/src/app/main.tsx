import { render } from "preact";
import { App, AppContext } from "./app.ts";
import { View } from "./view.tsx";

const app = new App();
render(
  <AppContext.Provider value={app}>
    <View />
  </AppContext.Provider>,
  document.getElementById("app")!,
);
void app.start();
