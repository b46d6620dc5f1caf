/**
 * The sheets of all pages, in the order in which they refine one another. Parts of one page stand in
 * others, whose own script does not ask for the sheet: so all come first, whatever page is opened.
 */

import "../act/act.css";
import "../bisect/bisect.css";
import "../experiment/matrix.css";
import "../boot/boot.css";
import "../picture/picture.css";
import "../case/case.css";
import "../details/details.css";
import "../case/samples.css";
import "../tables/tables.css";
import "../experiment/experiment.css";
import "../compare/compare.css";
import "../profile/profile.css";
import "../functions/functions.css";
import "../experiments/experiments.css";
import "../regressions/regressions.css";
import "../home/home.css";
import "../find/find.css";
import "../hosts/hosts.css";
import "../login/login.css";
import "../prices/prices.css";
import "../profile/exact.css";
import "../reference/reference.css";
import "../series/series.css";
import "../subscriptions/subscriptions.css";
import "../submit/submit.css";
import "../trends/trends.css";
import "../weekly/weekly.css";
