// Generated from the API's OpenAPI document by `npm run api:generate`.

export interface paths {
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Audit Entries
         * @description Entries of the audit log, the newest first, a page at a time.
         */
        get: operations["list_audit_entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Audit Entries
         * @description All entries, the oldest first, a line of JSON each.
         */
        get: operations["export_audit_entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bisections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Bisections
         * @description The newest bisections, and what each one answered.
         */
        get: operations["list_bisections"];
        put?: never;
        /**
         * Start Bisection
         * @description Have a bisection taken on: over an approved revision, patches, or an ordered list of arms.
         */
        post: operations["start_bisection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bisections/proposal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Propose Bisection
         * @description What `POST /api/bisections` could be sent for a regression, or for a cell of an experiment.
         *
         *     Give `regression`, or all of `experiment`, `case`, `host`, `arm` and `metric`. Nothing
         *     is started.
         */
        get: operations["propose_bisection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bisections/{bisection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Bisection
         * @description One bisection: candidates with their probability, steps, what was skipped, the answer.
         */
        get: operations["show_bisection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bisections/{bisection_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Bisection
         * @description Stop a bisection and the experiment that it waits for. A body is not read.
         */
        post: operations["cancel_bisection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bisections/{bisection_id}/patches/{position}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Patch
         * @description The patch of a candidate, from 1, as it is applied.
         */
        get: operations["show_patch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/blobs/{digest}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Raw Output
         * @description A raw file by its SHA-256, always as a download.
         */
        get: operations["raw_output"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/boots/{boot_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Boot
         * @description One boot: proof, raw iterations, steps, fingerprint, console.
         */
        get: operations["show_boot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Experiments
         * @description Experiments, newest first, a page at a time: by `offset`, or from `before` on.
         */
        get: operations["list_experiments"];
        put?: never;
        /**
         * Submit Experiment
         * @description Submit a spec (YAML). It is refused whole, with line and known names, or planned whole.
         */
        post: operations["submit_experiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/choices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Choices
         * @description What the list can be filtered by: submitters, hosts, workloads and modes that there are.
         */
        get: operations["list_choices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Experiment
         * @description One experiment with its arms and runs; its matrices are at ``/matrix``.
         */
        get: operations["show_experiment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Experiment
         * @description Ask an experiment to stop; its hosts are restored first. A body is not read.
         */
        post: operations["cancel_experiment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/cases/{case_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Case
         * @description One case on one host, every boot a point.
         */
        get: operations["show_case"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/cases/{case_id}/collected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Collected
         * @description What was collected once a second beside one case on one host, arms over one another.
         */
        get: operations["show_collected"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/cases/{case_id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Details
         * @description What one case on one host tells besides its metrics: a curve over a load, breakdowns.
         */
        get: operations["show_details"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/cases/{case_id}/details/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Details Report
         * @description The same as text for a mailing list, as Markdown, or as CSV.
         */
        get: operations["details_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Claims
         * @description Published figures about what the experiment measures, set beside its own.
         */
        get: operations["show_claims"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/consequences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Consequences
         * @description What exits explain of its changes, and what costs of single operations did to real work.
         */
        get: operations["show_consequences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/counters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Counters
         * @description Counters of one operation over all arms, of every case that counts or of one.
         */
        get: operations["show_counters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/counters/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counters Report
         * @description The same as text for a mailing list, as Markdown, or as CSV.
         */
        get: operations["counters_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow Experiment
         * @description Server-sent events: ``progress`` on each change, ``log`` for each event.
         */
        get: operations["follow_experiment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/iterations.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Iterations As Csv
         * @description Every value as a row, warm-ups and iterations that were taken again included.
         */
        get: operations["iterations_as_csv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/iterations.jsonl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Iterations As Json
         * @description The same, a line of JSON each.
         */
        get: operations["iterations_as_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Log
         * @description The event log, oldest first, from *after* on.
         */
        get: operations["show_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/loss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Loss
         * @description Two families of modes crossed, by processor; of all primary metrics, or of one case's.
         */
        get: operations["show_loss"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/loss/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Loss Report
         * @description The same as text for a mailing list, as Markdown, or as CSV.
         */
        get: operations["loss_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Matrix
         * @description Every matrix of the experiment, from verdicts as they were stored.
         */
        get: operations["show_matrix"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/matrix.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Matrix As Csv
         * @description Every cell of the matrices as a row.
         */
        get: operations["matrix_as_csv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/matrix.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Matrix As Json
         * @description The experiment with its matrices, as a file.
         */
        get: operations["matrix_as_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Progress
         * @description Where it stands right now.
         */
        get: operations["show_progress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report
         * @description The matrix as text for a mailing list, plain or Markdown.
         */
        get: operations["report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/tables/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Table
         * @description A table of any kind: matrix, counters, threads, loss, details, functions and others.
         */
        get: operations["show_table"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/tables/{kind}.{suffix}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Table File
         * @description A table as text for a mailing list, as Markdown, as CSV, or as JSON.
         */
        get: operations["table_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Threads
         * @description Wake-ups, run time and wait time by thread name, of every case that tells or of one.
         */
        get: operations["show_threads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/threads/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Threads Report
         * @description The same as text for a mailing list, as Markdown, or as CSV (in 5 s, if nothing is said).
         */
        get: operations["threads_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/experiments/{experiment_id}/whole": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Whole
         * @description The experiment with its matrices, and each of its boots with its values, where not too many.
         *
         *     Where there are more, `iterations.jsonl` has them piece by piece.
         */
        get: operations["show_whole"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/feeds/experiments.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Feed Experiments
         * @description Experiments, those that changed last first; filtered as their list.
         */
        get: operations["feed_experiments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/feeds/regressions.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Feed Regressions
         * @description Regressions, those that changed last first; filtered as their list.
         */
        get: operations["feed_regressions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/feeds/series.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Feed Series
         * @description Series, those with the newest revision first.
         */
        get: operations["feed_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/feeds/weekly.atom": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Feed Weekly
         * @description Reports of weeks that are over, the newest first.
         */
        get: operations["feed_weekly"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/forecasts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Spec
         * @description What a spec (YAML) would plan, or what is wrong with it. Nothing is stored.
         */
        post: operations["check_spec"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Live
         * @description The process answers.
         */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ready
         * @description The database answers and its schema is at head; 503 with the way out otherwise.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Home
         * @description The service at a glance, the same for everybody.
         */
        get: operations["home"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Hosts
         * @description Hosts by environment and name.
         */
        get: operations["list_hosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{environment}/{name}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release Host
         * @description Let runs begin on a reserved host again. A body is not read.
         *
         *     To break what somebody else reserved needs the right to set hosts aside.
         */
        post: operations["release_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{environment}/{name}/reserve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reserve Host
         * @description Keep a host for oneself: no run begins on it before then; one that holds it goes on.
         */
        post: operations["reserve_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{environment}/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Host
         * @description Use a host again that was set aside. A body is not read.
         */
        post: operations["resume_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{environment}/{name}/set-aside": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set Host Aside
         * @description Let no run begin on a host until somebody resumes it; one that holds it goes on.
         */
        post: operations["set_host_aside"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Host
         * @description One host with its fingerprints and experiments; *environment* where several have the name.
         */
        get: operations["show_host"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Jobs
         * @description The newest jobs.
         */
        get: operations["list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Job
         * @description One job with the latest lines of its log and its latest attempts.
         */
        get: operations["show_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Job
         * @description End a job: what it builds is stopped within seconds. A body is not read.
         */
        post: operations["cancel_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/kernels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Kernels
         * @description Kernels that were built here or brought in.
         */
        get: operations["list_kernels"];
        put?: never;
        /**
         * Build Kernel
         * @description Have a kernel built: its code may then run as root on hosts. The same order is one job.
         */
        post: operations["build_kernel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/kernels/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Kernel
         * @description One kernel, by its release, its label, or how its digest begins.
         */
        get: operations["show_kernel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pairs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Pair
         * @description Rows that experiments a and b have in common: both effects and their difference.
         *
         *     All common rows are judged together, whatever is filtered.
         */
        get: operations["show_pair"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Prices
         * @description Prices by processor, and the newest 200 checks of what they predict.
         */
        get: operations["show_prices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/prices/checks/{check_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Price Check
         * @description One check: what was measured and what was predicted of each arm.
         */
        get: operations["show_price_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/case": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Case Profiles
         * @description Every arm's profiles of a case on a host: totals, functions that explain, counters.
         */
        get: operations["case_profiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diff
         * @description The diff of *b* against *a*, in binary: see docs/profiles.md.
         */
        get: operations["diff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/diff.svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diff As Svg
         * @description The same diff, drawn by inferno or FlameGraph if one is installed with the service.
         */
        get: operations["diff_as_svg"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/exact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exact Counts
         * @description What an operation runs on both sides, to the instruction, as an emulator counted it.
         */
        get: operations["exact_counts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/exact/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exact Flame Graph
         * @description Sampled stacks with exact counts as their totals, in binary: see docs/exact.md.
         */
        get: operations["exact_flame_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/functions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Functions
         * @description Functions of a case's profiles over all its arms, each against the baseline.
         */
        get: operations["functions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Groups
         * @description What a case's profiles can be compared with: other arms, hosts and experiments.
         */
        get: operations["groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/profiles/instructions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Instructions
         * @description A function's instructions on both sides, as they ran, with their samples.
         */
        get: operations["instructions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Queue
         * @description Hosts that run something, for which something waits, or that somebody keeps.
         */
        get: operations["show_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/regressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Regressions
         * @description Regressions: the open first, of these the newest.
         */
        get: operations["list_regressions"];
        put?: never;
        /**
         * File Regression
         * @description Take a cell of an experiment that is worse for a regression.
         */
        post: operations["file_regression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/regressions/{regression_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Regression
         * @description One regression with its history.
         */
        get: operations["show_regression"];
        put?: never;
        /**
         * Change Regression
         * @description Change state, owner, bug, or say something; 409 where somebody was quicker.
         */
        post: operations["change_regression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Requests
         * @description Requests that came by mail, the newest first.
         */
        get: operations["list_requests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/requests/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Request
         * @description One request with its whole mail.
         */
        get: operations["show_request"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/requests/{request_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve Request
         * @description Say that the mail of that digest is meant: its diff may then run on our hosts.
         */
        post: operations["approve_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/requests/{request_id}/ignore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ignore Request
         * @description Leave a request alone: it gets no answer. A body is not read.
         */
        post: operations["ignore_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search
         * @description What has each of the words: the newest few of each kind, with how many there are.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Series
         * @description The newest series, each with where its newest revision stands.
         */
        get: operations["list_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Series
         * @description One series with its revisions, the first one first.
         */
        get: operations["show_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series/{name}/line": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Line
         * @description What was said of each case and mode, revision by revision; the worst first.
         */
        get: operations["show_line"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series/{name}/revision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Revision
         * @description One revision whole: `v3`, or `v3+fix-7`; without a label the newest.
         */
        get: operations["show_revision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series/{name}/{revision}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve Revision
         * @description Say that a revision's patches, those of that digest, may run on our hosts.
         */
        post: operations["approve_revision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/series/{name}/{revision}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Revision
         * @description Have an approved revision built and measured.
         *
         *     Cases that are known to run nothing of what it changes are left out, unless `all_cases` is
         *     true.
         */
        post: operations["start_revision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Session
         * @description Who one is.
         */
        get: operations["show_session"];
        put?: never;
        /**
         * Log In
         * @description Begin a browser session; only a page of this service may ask for one.
         */
        post: operations["log_in"];
        /**
         * Log Out
         * @description End the browser's session.
         */
        delete: operations["log_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session/ways": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Ways
         * @description By what one may log in, for whoever is not in yet.
         */
        get: operations["show_ways"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/specs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Specs
         * @description The specs that come with the service, by name.
         */
        get: operations["list_specs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/specs/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Spec
         * @description One of them with its text.
         */
        get: operations["show_spec"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Subscriptions
         * @description One's own subscriptions, the newest first.
         */
        get: operations["list_subscriptions"];
        put?: never;
        /**
         * Add Subscription
         * @description Subscribe. The secret of a webhook is in this answer alone.
         */
        post: operations["add_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/subscriptions/{subscription_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause Subscription
         * @description Tell nothing for a while; what happens meanwhile is not told later. A body is not read.
         */
        post: operations["pause_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/subscriptions/{subscription_id}/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove Subscription
         * @description End one; the answer is how it was. A body is not read.
         */
        post: operations["remove_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/subscriptions/{subscription_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Subscription
         * @description Tell again, from now on. A body is not read.
         */
        post: operations["resume_subscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trends": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Trends
         * @description Trends, the newest change first, those without one last.
         */
        get: operations["list_trends"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trends/changes/{change_id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept Change
         * @description Take a change as it is. Later values that say otherwise make its next version.
         */
        post: operations["accept_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trends/classes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Classes
         * @description Host classes that have trends.
         */
        get: operations["list_classes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trends/stability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Stability
         * @description How far verdicts agree where the same two arms were compared again.
         */
        get: operations["show_stability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trends/{trend_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Trend
         * @description One trend with its values, changes and annotations.
         */
        get: operations["show_trend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/trends/{trend_id}/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Annotate
         * @description Say something of a trend, or of one of its changes.
         */
        post: operations["annotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/weekly": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Weekly
         * @description Reports that were made, the newest week first.
         */
        get: operations["list_weekly"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/weekly/{week}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show Weekly
         * @description One week's report, arranged for reading.
         */
        get: operations["show_weekly"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/weekly/{week}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Weekly File
         * @description The report as a file: text, Markdown, HTML, JSON, or a mail with its pictures.
         */
        get: operations["weekly_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Workers
         * @description Workers of the last week: what each can do, what it lacks, when it was last seen.
         */
        get: operations["list_workers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AaRateView
         * @description How often a doubled arm was called better or worse on a host: the measured false alarms.
         */
        AaRateView: {
            /** Alarms */
            alarms: number;
            /** Ci High Percent */
            ci_high_percent: number;
            /**
             * Ci Low Percent
             * @description Clopper-Pearson, 95 %, of as many trials as days: cases of one may be alike
             */
            ci_low_percent: number;
            /**
             * Comparisons
             * @description verdicts on a doubled arm, one a case and run
             */
            comparisons: number;
            /**
             * Days
             * @description days of the host on which they were
             */
            days: number;
            /** Metric */
            metric: string;
            /** Rate Percent */
            rate_percent: number;
            /** Undecided */
            undecided: number;
            /** Workload */
            workload: string;
        };
        /**
         * Ability
         * @description What a worker must be able to do for a job, beside runs on hosts.
         * @enum {string}
         */
        Ability: "kernels" | "archives" | "mail" | "letters" | "backups" | "digests";
        /**
         * AbsenceKind
         * @description A kind of time in which no run begins on a host.
         * @enum {string}
         */
        AbsenceKind: "set_aside" | "reserved";
        /**
         * AbsenceView
         * @description A time in which no run began on the host.
         */
        AbsenceView: {
            /**
             * Began At
             * Format: date-time
             */
            began_at: string;
            /**
             * Begun By
             * @description empty: a rule
             */
            begun_by: string;
            /** Ended At */
            ended_at: string | null;
            /** Ended By */
            ended_by: string;
            kind: components["schemas"]["AbsenceKind"];
            /** Reason */
            reason: string;
            /** Until */
            until: string | null;
        };
        /**
         * Absent
         * @description A collector that has nothing to show on this host.
         */
        Absent: {
            /** Collector */
            collector: string;
            /** Reason */
            reason: string;
        };
        /**
         * Acceptance
         * @description Why a change is taken as it is.
         */
        Acceptance: {
            /**
             * Expected
             * @description it was known to come
             * @default false
             */
            expected: boolean;
            /** Text */
            text: string;
        };
        /**
         * Action
         * @description What was done. Words that were written once stay: entries are never altered.
         * @enum {string}
         */
        Action: "experiment.submit" | "experiment.cancel" | "experiment.begin" | "experiment.end" | "experiment.import" | "experiment.judge" | "job.ask" | "job.begin" | "job.end" | "job.cancel" | "host.set-aside" | "host.resume" | "host.reserve" | "host.release" | "token.create" | "token.revoke" | "session.begin" | "session.end" | "series.add" | "series.set" | "series.approve" | "series.retest" | "request.decide" | "request.approve" | "request.ignore" | "kernel.import" | "kernel.remove" | "bisection.start" | "bisection.cancel" | "bisection.end" | "trend.annotate" | "trend.accept" | "regression.file" | "regression.change" | "subscription.add" | "subscription.pause" | "subscription.resume" | "subscription.remove" | "claims.import" | "profile.import" | "report.make" | "mail.send" | "backup.take" | "backup.remove" | "backup.restore" | "database.prune" | "database.upgrade";
        /**
         * AddedSubscription
         * @description A subscription that was just made.
         */
        AddedSubscription: {
            /**
             * Secret
             * @description by which a webhook's signature is checked; it is shown this once. Empty: mail
             */
            secret: string;
            subscription: components["schemas"]["SubscriptionView"];
        };
        /**
         * Annotation
         * @description What somebody said.
         */
        Annotation: {
            /** About */
            about: string | null;
            /** Change Id */
            change_id: number | null;
            /** Id */
            id: number;
            /**
             * Said At
             * Format: date-time
             */
            said_at: string;
            /** Said By */
            said_by: string;
            /** Text */
            text: string;
            /** Trend Id */
            trend_id: number;
        };
        /**
         * Answer
         * @description What was measured of one arm: a value, its effect, or why there is none.
         */
        Answer: {
            /** Claims */
            claims?: components["schemas"]["ClaimFigure"][];
            effect?: components["schemas"]["Effect"] | null;
            /**
             * Href
             * @description page of the dashboard behind it
             * @default
             */
            href: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "answer";
            /**
             * More
             * @description further figures, by the names in the table's `more`
             */
            more?: {
                [key: string]: components["schemas"]["Quantity"];
            };
            /**
             * N
             * @description boots that count
             * @default 0
             */
            n: number;
            /**
             * Note
             * @description why there is no effect, or what to know of it
             * @default
             */
            note: string;
            state: components["schemas"]["CellState"];
            value?: components["schemas"]["Quantity"] | null;
        };
        /**
         * AnswerKind
         * @description What a bisection may find out.
         * @enum {string}
         */
        AnswerKind: "found" | "several" | "none_of_these" | "refused" | "undecided";
        /**
         * Approval
         * @description What a person looked at before saying that it may run.
         */
        "Approval-Input": {
            /**
             * Digest
             * @description of the revision: 12 hexadecimal digits or more
             */
            digest: string;
        };
        /**
         * Approval
         * @description A patch series' revision whose patches a person must look at before they run.
         */
        "Approval-Output": {
            /** Revision */
            revision: string;
            /** Sender */
            sender: string;
            /** Series */
            series: string;
            /** Title */
            title: string;
            /**
             * Why
             * @description why nobody's word is enough
             */
            why: string;
        };
        /**
         * ArmHead
         * @description The arm that a column is of.
         */
        ArmHead: {
            /** Id */
            id: number;
            /**
             * Is Baseline
             * @default false
             */
            is_baseline: boolean;
            /**
             * Kernel
             * @description empty: the host's own
             * @default
             */
            kernel: string;
            /**
             * Mode
             * @default
             */
            mode: string;
            /** Name */
            name: string;
        };
        /**
         * ArmPair
         * @description An arm of A beside an arm of B.
         */
        ArmPair: {
            /**
             * A
             * @description its name in A
             */
            a: string;
            /** B */
            b: string;
            /**
             * How
             * @enum {string}
             */
            how: "baseline" | "mode" | "name";
            /** Is Baseline */
            is_baseline: boolean;
            /** Mode A */
            mode_a: string;
            /** Mode B */
            mode_b: string;
            /** Name */
            name: string;
        };
        /**
         * ArmProfilesView
         * @description One arm's profiles of a case on a host.
         */
        ArmProfilesView: {
            /** Arm */
            arm: string;
            /** Arm Id */
            arm_id: number;
            /** Counters */
            counters: components["schemas"]["CounterView"][];
            /**
             * Difference
             * @description of everything together, from the baseline; none where costs are shares
             */
            difference?: number | null;
            /**
             * Functions
             * @description significant at q 5 %, largest first
             */
            functions: components["schemas"]["FunctionChange"][];
            /** High */
            high?: number | null;
            /** Is Baseline */
            is_baseline: boolean;
            /** Low */
            low?: number | null;
            /**
             * Overhead Percent
             * @description what profiling cost, mean over boots
             */
            overhead_percent?: number | null;
            /** Profiles */
            profiles: number;
            /** Samples */
            samples: number;
            /**
             * Total
             * @description mean cost of everything, in the unit
             */
            total?: number | null;
        };
        /**
         * ArmTotal
         * @description A column: an arm and what everything costs in it.
         */
        ArmTotal: {
            /** Arm */
            arm: string;
            /** Arm Id */
            arm_id: number;
            /** Is Baseline */
            is_baseline: boolean;
            /** Profiles */
            profiles: number;
            /**
             * Total
             * @description mean cost of everything, in the unit
             */
            total?: number | null;
        };
        /**
         * ArmView
         * @description One arm of a comparison and how far it could be proven in force.
         */
        ArmView: {
            /** Boots Effective */
            boots_effective: number;
            /** Boots Failed */
            boots_failed: number;
            /** Boots Not Effective */
            boots_not_effective: number;
            /**
             * Cmdline
             * @description what the mode adds to the kernel command line on this fleet
             */
            cmdline: string;
            /**
             * Events
             * @description what of the hardware its mode works by, in words; free where emulated
             */
            events?: string[];
            /**
             * Expected
             * @description states that prove the mode, as a person reads them
             */
            expected: string[];
            /** Id */
            id: number;
            /**
             * Is Aa
             * @description the baseline once more, to see false alarms
             * @default false
             */
            is_aa: boolean;
            /** Is Baseline */
            is_baseline: boolean;
            /**
             * Kernel
             * @description kernel release asked for; empty: the host's installed default
             */
            kernel: string;
            /**
             * Mode
             * @description family/mode, for example vmscape/ibpb
             */
            mode: string;
            /** Name */
            name: string;
            /**
             * Observed
             * @description what kernels said where the mode was not in force
             */
            observed: string[];
            /** Title */
            title: string;
        };
        /**
         * AttemptView
         * @description One attempt at one step.
         */
        AttemptView: {
            /** Attempt */
            attempt: number;
            /** Detail */
            detail: string;
            /** Epoch */
            epoch: number;
            /** Finished At */
            finished_at: string | null;
            /** Outcome */
            outcome: string;
            /**
             * Started At
             * Format: date-time
             */
            started_at: string;
            /** Step */
            step: string;
        };
        /**
         * Attested
         * @description What is known of who wrote the mails, beyond what their From says.
         * @enum {string}
         */
        Attested: "pass" | "fail" | "missing";
        /**
         * AuditEntryView
         * @description One change, or one that was refused for lack of rights.
         */
        AuditEntryView: {
            /**
             * Action
             * @description what was done: `experiment.submit`, `host.set-aside`, …
             */
            action: string;
            /**
             * Actor
             * @description a token's name, proxy:USER, operator (the link of `serve`), a login of the command line, a mail's sender, or a worker
             */
            actor: string;
            /**
             * Address
             * @description the client's address, or the machine's name
             */
            address: string;
            /**
             * After
             * @description what changed, as it is since; texts are cut
             */
            after: {
                [key: string]: unknown;
            };
            /**
             * At
             * Format: date-time
             * @description by the database's clock, UTC
             */
            at: string;
            /**
             * Before
             * @description what changed, as it was; texts are cut
             */
            before: {
                [key: string]: unknown;
            };
            /**
             * Id
             * @description grows from entry to entry; numbers may be missing
             */
            id: number;
            /**
             * Job
             * @description what a worker acted for: `job 12`, `run 5`; else empty
             */
            job: string;
            /**
             * Refused
             * @description why it was refused; empty: it was done
             */
            refused: string;
            /**
             * Request Id
             * @description of the HTTP request, as the access log has it; else empty
             */
            request_id: string;
            /**
             * Subject
             * @description its number or name
             */
            subject: string;
            /**
             * Subject Kind
             * @description what kind of thing was changed: `host`, `token`, …
             */
            subject_kind: string;
            /** @description by what the actor acted */
            way: components["schemas"]["Way"];
        };
        /**
         * AuditPage
         * @description Entries, the newest first, and where the next ones begin.
         */
        AuditPage: {
            /** Entries */
            entries: components["schemas"]["AuditEntryView"][];
            /**
             * Next Before
             * @description `before` of the next page; null where there is none
             */
            next_before: number | null;
        };
        /**
         * BillRow
         * @description How often an operation does what costs on real processors; counted, not priced.
         */
        BillRow: {
            /** A */
            a: number;
            /** B */
            b: number;
            /** Difference */
            difference: number;
            /** Event */
            event: string;
            /**
             * Exact
             * @description the difference as a whole number, where both sides did it the same each time
             */
            exact: number | null;
            /** Title */
            title: string;
        };
        /**
         * BisectionAnswer
         * @description What a bisection found out.
         *
         *     *confidence* is of the culprit, that there are several, that it is none of these, or that it is
         *     one of *candidates*, by kind. Effects are percent of the parent.
         */
        BisectionAnswer: {
            /** Candidates */
            candidates: number[];
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            /** Confidence */
            confidence: number | null;
            /** Effect Percent */
            effect_percent: number | null;
            flame_graph: components["schemas"]["FlameGraph"] | null;
            kind: components["schemas"]["AnswerKind"];
            /**
             * Reverts
             * @description of each candidate that was taken out of the last end
             */
            reverts: components["schemas"]["RevertRecord"][];
            /**
             * Verified By
             * @description experiments that verified it
             */
            verified_by: number[];
            /**
             * What It Takes
             * @default
             */
            what_it_takes: string;
            /**
             * Why
             * @default
             */
            why: string;
        };
        /**
         * BisectionHead
         * @description One bisection in a list.
         */
        BisectionHead: {
            answer: components["schemas"]["AnswerKind"] | null;
            /**
             * Boots
             * @description boots that were begun, those of the step in hand among them
             */
            boots: number;
            /** Budget Boots */
            budget_boots: number;
            /** Budget S */
            budget_s: number;
            /** Candidates */
            candidates: number;
            /** Case */
            case: string;
            /** Confidence */
            confidence: number | null;
            /**
             * Counted
             * @description whether the hosts' time counts instructions
             */
            counted: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Culprit
             * @description the title of the candidate that was found; empty: none was
             */
            culprit: string;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Finished At */
            finished_at: string | null;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            kind: components["schemas"]["BisectionKind"];
            /** Metric */
            metric: string;
            /**
             * Seconds
             * @description seconds of building and measuring, of steps that are over
             */
            seconds: number;
            state: components["schemas"]["BisectionState"];
            /** Submitted By */
            submitted_by: string;
            /** Title */
            title: string;
            /**
             * Why
             * @description what it does just now, or why it is in that state
             */
            why: string;
        };
        /**
         * BisectionKind
         * @description What the candidates are.
         * @enum {string}
         */
        BisectionKind: "patches" | "commits" | "arms";
        /**
         * BisectionProposal
         * @description The fields of a request for a bisection, filled in from what was measured.
         *
         *     One of *series* and *arms* says over what; where neither does, *why* says what is needed.
         */
        BisectionProposal: {
            /**
             * Arms
             * @description an ordered list of arms, as YAML; empty: there is none
             */
            arms: string;
            /**
             * Changes
             * @description how many candidates there are; null: not known
             */
            changes: number | null;
            /** Effect Percent */
            effect_percent: number | null;
            /** Environment */
            environment: string;
            /** Hosts */
            hosts: string[];
            /** Metric */
            metric: string;
            /**
             * Mode
             * @description in which kernels of a series are booted
             */
            mode: string;
            /** Parameters */
            parameters: {
                [key: string]: string | number;
            };
            /** Regression Id */
            regression_id: number | null;
            /** Revision */
            revision: string;
            /**
             * Series
             * @description the series whose revision was measured; empty: none was
             */
            series: string;
            /**
             * Title
             * @description what became worse
             */
            title: string;
            /**
             * Why
             * @description what is proposed and why, in words
             */
            why: string;
            /** Workload */
            workload: string;
        };
        /**
         * BisectionRequest
         * @description A bisection to be taken on. One of *series*, *arms* and *patches* says over what.
         */
        BisectionRequest: {
            /**
             * Arms
             * @description an ordered list of arms, as YAML
             * @default
             */
            arms: string;
            /**
             * Base
             * @description what `patches` are applied to
             * @default linux-source-7.2
             */
            base: string;
            /**
             * Boots
             * @description how many it may take
             * @default 300
             */
            boots: number;
            /**
             * Confidence
             * @description how sure it must be of what it names
             * @default 0.95
             */
            confidence: number;
            /** Environment */
            environment: string;
            /**
             * Hosts
             * @description hosts that are alike
             */
            hosts: string[];
            /**
             * Hours
             * @description of building and measuring that it may take
             * @default 48
             */
            hours: number;
            /**
             * Metric
             * @description empty: the workload's primary one
             * @default
             */
            metric: string;
            /**
             * Minimum Effect Percent
             * @description ends that differ by less are refused
             * @default 0.5
             */
            minimum_effect_percent: number;
            /**
             * Mode
             * @description in which kernels of a series are booted
             * @default spectre-bhi/off
             */
            mode: string;
            /** Parameters */
            parameters?: {
                [key: string]: string | number;
            };
            /**
             * Patches
             * @description patches in their order
             */
            patches?: components["schemas"]["PatchText"][];
            /**
             * Profile
             * @description config profile of their kernels
             * @default lab
             */
            profile: string;
            /**
             * Regression
             * @description the regression that it is started from, if one
             */
            regression?: number | null;
            /**
             * Revision
             * @description v3; empty: the newest
             * @default
             */
            revision: string;
            /**
             * Series
             * @description a series' name or number
             * @default
             */
            series: string;
            /**
             * Workload
             * @default syscall
             */
            workload: string;
        };
        /**
         * BisectionState
         * @description Where a bisection stands; what came of it is its answer.
         * @enum {string}
         */
        BisectionState: "running" | "finished" | "failed" | "cancelled";
        /**
         * BisectionView
         * @description One bisection whole.
         */
        BisectionView: {
            answer: components["schemas"]["AnswerKind"] | null;
            /**
             * Boots
             * @description boots that were begun, those of the step in hand among them
             */
            boots: number;
            /** Budget Boots */
            budget_boots: number;
            /** Budget S */
            budget_s: number;
            /** Candidates */
            candidates: number;
            /** Case */
            case: string;
            /**
             * Changes
             * @description in their order; the likeliest of very many
             */
            changes: components["schemas"]["CandidateView"][];
            /** Confidence */
            confidence: number | null;
            /**
             * Counted
             * @description whether the hosts' time counts instructions
             */
            counted: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Culprit
             * @description the title of the candidate that was found; empty: none was
             */
            culprit: string;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Finished At */
            finished_at: string | null;
            found: components["schemas"]["BisectionAnswer"] | null;
            /** Higher Is Worse */
            higher_is_worse: boolean;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            kind: components["schemas"]["BisectionKind"];
            /**
             * Left Out
             * @description candidates that are not among them
             */
            left_out: number;
            /** Metric */
            metric: string;
            /** Minimum Effect Percent */
            minimum_effect_percent: number;
            /** None Probability */
            none_probability: number | null;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /**
             * Points
             * @description those that were built, measured or skipped
             */
            points: components["schemas"]["PointView"][];
            /**
             * Seconds
             * @description seconds of building and measuring, of steps that are over
             */
            seconds: number;
            /** Several Probability */
            several_probability: number | null;
            source: components["schemas"]["Source"];
            state: components["schemas"]["BisectionState"];
            /** Steps */
            steps: components["schemas"]["StepView"][];
            /** Submitted By */
            submitted_by: string;
            /** Title */
            title: string;
            /** Unit */
            unit: string;
            /** Wanted Confidence */
            wanted_confidence: number;
            /**
             * Why
             * @description what it does just now, or why it is in that state
             */
            why: string;
            /** Workload */
            workload: string;
        };
        /**
         * BootLine
         * @description One boot in short, with every value it gave.
         */
        BootLine: {
            /** Arm */
            arm: string;
            /** Attempt */
            attempt: number;
            /** Block */
            block: number;
            /** Comparison */
            comparison: string;
            /** Host */
            host: string;
            /** Id */
            id: number;
            /**
             * Kernel Boot Id
             * @description /proc/sys/kernel/random/boot_id
             */
            kernel_boot_id: string | null;
            /** Kernel Release */
            kernel_release: string | null;
            method: components["schemas"]["BootMethod"];
            /** Nonce */
            nonce: string;
            /**
             * Observed
             * @description the vulnerability state the mode is judged by
             */
            observed: string | null;
            /** Order */
            order: number;
            /** Reason */
            reason: string;
            state: components["schemas"]["BootState"];
            /**
             * Values
             * @description case id, then metric, then the iterations after warm-up
             */
            values: {
                [key: string]: {
                    [key: string]: number[];
                };
            };
        };
        /**
         * BootMethod
         * @description One boot's way.
         * @enum {string}
         */
        BootMethod: "reset" | "kexec" | "within";
        /**
         * BootPoint
         * @description A boot's value for one case and metric.
         */
        BootPoint: {
            /** Arm */
            arm: string;
            /** Arm Id */
            arm_id: number;
            /** At */
            at: string | null;
            /** Block */
            block: number;
            /**
             * Boot Id
             * @description our id of the boot, as in /boots/{boot_id}
             */
            boot_id: number;
            /**
             * Counts
             * @description whether the boot takes part in the comparison
             */
            counts: boolean;
            /**
             * Disturbed
             * @description taken again, since the processor was slowed beside them; in no mean
             */
            disturbed: number[];
            /** Iterations */
            iterations: number[];
            /** Mean */
            mean: number | null;
            /**
             * Order
             * @description place within the block, from 1
             */
            order: number;
            state: components["schemas"]["BootState"];
            /** Warmup */
            warmup: number[];
        };
        /**
         * BootState
         * @description What became of one boot of one arm in one block.
         * @enum {string}
         */
        BootState: "planned" | "booting" | "measuring" | "effective" | "not_effective" | "wrong_kernel" | "did_not_boot" | "lab_fault" | "invalid" | "skipped";
        /**
         * BootView
         * @description One boot with its proof, everything a figure can be traced to.
         */
        BootView: {
            /** Arm */
            arm: string;
            /** Attempt */
            attempt: number;
            /** Block */
            block: number;
            /** Build Id */
            build_id: string | null;
            clock: components["schemas"]["Clock"];
            /** Cmdline */
            cmdline: string | null;
            /** Comparison */
            comparison: string;
            /** Emulated */
            emulated: boolean;
            /** Expected */
            expected: string[];
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /** Fingerprint */
            fingerprint: {
                [key: string]: unknown;
            };
            /** Finished At */
            finished_at: string | null;
            /** Host */
            host: string;
            /** Id */
            id: number;
            /**
             * Kernel Boot Id
             * @description /proc/sys/kernel/random/boot_id
             */
            kernel_boot_id: string | null;
            /** Kernel Release */
            kernel_release: string | null;
            /**
             * Loader Type
             * @description /proc/sys/kernel/bootloader_type, which shows whether kexec started the kernel
             */
            loader_type: number | null;
            method: components["schemas"]["BootMethod"];
            /** Microcode */
            microcode: string | null;
            /** Mode */
            mode: string;
            /** Nonce */
            nonce: string;
            /**
             * Observed
             * @description the vulnerability state the mode is judged by
             */
            observed: string | null;
            /** Order */
            order: number;
            /** Reason */
            reason: string;
            /** Results */
            results: components["schemas"]["ResultView"][];
            /** Serial Tail */
            serial_tail: string;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["BootState"];
            /** Steps */
            steps: components["schemas"]["AttemptView"][];
            /** Tainted */
            tainted: number | null;
            /** Vulnerabilities */
            vulnerabilities: {
                [key: string]: string;
            };
        };
        /**
         * BootsView
         * @description Boots of a run by one method.
         */
        BootsView: {
            /** Boots */
            boots: number;
            /**
             * Mean S
             * @description from the reboot to the greeting of the SSH server
             */
            mean_s: number;
            method: components["schemas"]["BootMethod"];
        };
        /**
         * Bound
         * @description What a measured change says of the true one.
         * @enum {string}
         */
        Bound: "exact" | "at_least" | "at_most" | "nothing";
        /**
         * BreakdownLine
         * @description One figure of one row, by arm.
         */
        BreakdownLine: {
            /** Cells */
            cells: components["schemas"]["DetailCell"][];
            /** Figure */
            figure: string;
            /** Row */
            row: string;
        };
        /**
         * BreakdownRow
         * @description What a row of a breakdown is of.
         */
        BreakdownRow: {
            /** Name */
            name: string;
            /** Title */
            title: string;
        };
        /**
         * BreakdownView
         * @description Figures by something that a pass has several of.
         */
        BreakdownView: {
            /**
             * Choose
             * @description what a page shows one of at a time, the other one down its side
             * @enum {string}
             */
            choose: "row" | "figure";
            /** Figures */
            figures: components["schemas"]["DetailFigure"][];
            /** Help */
            help: string;
            /**
             * Lines
             * @description those that any boot tells
             */
            lines: components["schemas"]["BreakdownLine"][];
            /** Name */
            name: string;
            /** Of */
            of: string;
            /** Rows */
            rows: components["schemas"]["BreakdownRow"][];
            /** Title */
            title: string;
        };
        /**
         * CandidateView
         * @description One change, between point *position* − 1 and point *position*.
         */
        CandidateView: {
            /** Files */
            files: string[];
            /** Functions */
            functions: string[];
            /** Message Id */
            message_id: string;
            /** Name */
            name: string;
            /** Position */
            position: number;
            /** Prior */
            prior: number;
            /** Prior Why */
            prior_why: string;
            /**
             * Probability
             * @description that it alone is the culprit
             */
            probability: number | null;
            /** Title */
            title: string;
        };
        /**
         * CaseChoice
         * @description What was chosen of one comparison of kernels in one mode.
         */
        CaseChoice: {
            /**
             * Changed
             * @description functions whose code differs between its kernels, 50 at most
             */
            changed: string[];
            /**
             * Changed Count
             * @description how many there are
             */
            changed_count: number;
            /** Comparison */
            comparison: string;
            /**
             * Left Out
             * @description those that are known to run none of them
             */
            left_out: components["schemas"]["CaseReach"][];
            /** Measured */
            measured: components["schemas"]["CaseReach"][];
            /**
             * Object Count
             * @description how many there are
             * @default 0
             */
            object_count: number;
            /**
             * Objects
             * @description data that differ, 50 at most
             */
            objects?: string[];
        };
        /**
         * CaseProfilesView
         * @description What the profiles of one case on one host say, arm by arm.
         */
        CaseProfilesView: {
            /** Arms */
            arms: components["schemas"]["ArmProfilesView"][];
            /** Case Id */
            case_id: number;
            /** Event */
            event: string;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
            /**
             * System
             * @enum {string}
             */
            system: "host" | "guest" | "off-cpu";
            /** Unit */
            unit: string;
        };
        /**
         * CaseReach
         * @description A case, and what is known of it.
         */
        CaseReach: {
            /**
             * Beside
             * @description the first 8 functions of what was changed that it runs where nothing differs
             */
            beside?: string[];
            /** Case */
            case: string;
            /** Counted At */
            counted_at?: string | null;
            /**
             * Kernel
             * @description the kernel that it was counted on; empty: on none
             * @default
             */
            kernel: string;
            /**
             * Runs
             * @description the first 8 of what was changed that it runs; null: it cannot be told
             */
            runs: string[] | null;
            /**
             * Why
             * @description why it cannot be told whether it runs any of it
             * @default
             */
            why: string;
        };
        /**
         * CaseView
         * @description One case of an experiment with every boot as a point.
         */
        CaseView: {
            /** Arms */
            arms: components["schemas"]["ArmView"][];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            clock: components["schemas"]["Clock"];
            /** Comparison */
            comparison: string;
            /** Emulated */
            emulated: boolean;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
            /** Metrics */
            metrics: components["schemas"]["RowView"][];
            /**
             * Noise
             * @description by metric name
             */
            noise: {
                [key: string]: components["schemas"]["NoiseView"];
            };
            /** Parameters */
            parameters: {
                [key: string]: string | number;
            };
            /**
             * Points
             * @description by metric name
             */
            points: {
                [key: string]: components["schemas"]["BootPoint"][];
            };
            /**
             * Threads
             * @description whether boots tell of threads by name
             */
            threads: boolean;
            /** Workload */
            workload: string;
        };
        /**
         * Cause
         * @description One thing that was another one after the change.
         */
        Cause: {
            /** After */
            after: string;
            /** Before */
            before: string;
            /**
             * Host
             * @description where it changed; empty: on all hosts that were compared
             * @default
             */
            host: string;
            kind: components["schemas"]["CauseKind"];
            /**
             * What
             * @description its name, for example microcode or packages.iperf3
             */
            what: string;
        };
        /**
         * CauseKind
         * @description What differs between the values before and after a change.
         * @enum {string}
         */
        CauseKind: "kernel" | "mitigations" | "microcode" | "firmware" | "bios_setting" | "processor" | "tools" | "workload" | "mode" | "host";
        /**
         * CellState
         * @description What there is to say of an arm for one case and metric.
         * @enum {string}
         */
        CellState: "baseline" | "measured" | "not_effective" | "no_data";
        /**
         * CellView
         * @description One arm's answer for one case and metric on one host.
         */
        CellView: {
            /** Arm Id */
            arm_id: number;
            /**
             * Blocks
             * @description blocks in which both this arm and the baseline count
             */
            blocks: number;
            /**
             * @description what the figures say of the true change, where events of the hardware cost nothing: the true one is `at_least` or `at_most` this, or `nothing` is known
             * @default exact
             */
            bound: components["schemas"]["Bound"];
            /** Ci High Percent */
            ci_high_percent?: number | null;
            /** Ci Low Percent */
            ci_low_percent?: number | null;
            /**
             * Decided After
             * @description blocks after which the verdict fell; figures are of these blocks
             */
            decided_after?: number | null;
            /**
             * Earlier
             * @description what was said before, oldest first
             */
            earlier?: components["schemas"]["EarlierVerdict"][];
            /** Effect Percent */
            effect_percent?: number | null;
            /**
             * Mde Percent
             * @description smallest detectable effect
             */
            mde_percent?: number | null;
            /**
             * Mean
             * @description geometric mean of boot means, in the metric's unit
             */
            mean: number | null;
            /**
             * N
             * @description boots that count
             */
            n: number;
            /**
             * Note
             * @default
             */
            note: string;
            /** P */
            p?: number | null;
            /**
             * Q
             * @description of exploratory metrics, the false discovery rate
             */
            q?: number | null;
            /**
             * Reason
             * @description why this version was written
             * @default
             */
            reason: string;
            state: components["schemas"]["CellState"];
            verdict?: components["schemas"]["Verdict"] | null;
            /**
             * Version
             * @description 2 and more: an earlier verdict no longer held
             * @default 1
             */
            version: number;
        };
        /**
         * Change
         * @description What became of a patch.
         * @enum {string}
         */
        Change: "same" | "changed" | "new" | "gone";
        /**
         * ChangeKind
         * @description What became of a change.
         * @enum {string}
         */
        ChangeKind: "lasting" | "went_away" | "withdrawn";
        /**
         * ChangeState
         * @description What people said of a change.
         * @enum {string}
         */
        ChangeState: "open" | "accepted" | "expected";
        /**
         * CheckRow
         * @description What an arm costs against the baseline of its case: measured, and predicted.
         */
        CheckRow: {
            /** Arm */
            arm: string;
            /** Case */
            case: string;
            /**
             * Holds
             * @description whether both differ by no more than their errors together
             */
            holds: boolean;
            measured: components["schemas"]["NsInterval"];
            /**
             * Missing
             * @description events that differ and have no price
             */
            missing: string[];
            predicted: components["schemas"]["NsInterval"];
        };
        /**
         * CheckRows
         * @description One check with its rows.
         */
        CheckRows: {
            check: components["schemas"]["CheckView"];
            /**
             * Left Out
             * @description rows beyond the longest list; the counts have them
             */
            left_out: number;
            /** Rows */
            rows: components["schemas"]["CheckRow"][];
        };
        /**
         * CheckView
         * @description How often predictions of a processor's prices held on what one host measured.
         */
        CheckView: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /**
             * Checked
             * @description arms, each against the baseline of its case
             */
            checked: number;
            clock: components["schemas"]["Clock"];
            counted: components["schemas"]["CheckedExperiment"];
            /** Emulated */
            emulated: boolean;
            /** Held */
            held: number;
            /**
             * Host
             * @description the one that measured
             */
            host: string;
            /** Id */
            id: number;
            measured: components["schemas"]["CheckedExperiment"];
            /** Processor */
            processor: string;
            /**
             * Signs
             * @description of them, those whose measured change is not zero
             */
            signs: number;
            /** Signs Right */
            signs_right: number;
            /**
             * Title
             * @description of the processor; its name where its file is gone
             */
            title: string;
            /**
             * Whole
             * @description of them, those where every event has a price
             */
            whole: number;
            /** Whole Held */
            whole_held: number;
        };
        /**
         * CheckedExperiment
         * @description An experiment that a check is of.
         */
        CheckedExperiment: {
            /** Id */
            id: number;
            /** Name */
            name: string;
        };
        /**
         * ClaimFigure
         * @description A published figure that stands beside an answer. Percent, as the answer's effect.
         */
        ClaimFigure: {
            /** High */
            high: number;
            /**
             * Label
             * @description which of the source's figures
             */
            label: string;
            /** Low */
            low: number;
            /** Outcome */
            outcome: string;
            /** Reason */
            reason: string;
            /** Source */
            source: string;
        };
        /**
         * ClaimOutcome
         * @description What a finished experiment says about a claim.
         * @enum {string}
         */
        ClaimOutcome: "reproduced" | "contradicted" | "undecided" | "not_measured" | "emulated";
        /**
         * ClaimSourceView
         * @description What one source claims about things this experiment has.
         */
        ClaimSourceView: {
            /** Citation */
            citation: string;
            /** Claims */
            claims: components["schemas"]["ClaimView"][];
            /** Name */
            name: string;
            /** Published */
            published: string | null;
            /** Title */
            title: string;
        };
        /**
         * ClaimView
         * @description One claim beside what was measured for it, if anything was.
         */
        ClaimView: {
            /**
             * Arm
             * @description the arm claimed about, where kernels differ and not modes
             * @default
             */
            arm: string;
            /** Arm Id */
            arm_id?: number | null;
            /** Baseline */
            baseline: string;
            /**
             * @description what the figure says of the true change
             * @default exact
             */
            bound: components["schemas"]["Bound"];
            /** Case Id */
            case_id?: number | null;
            /** Ci High Percent */
            ci_high_percent?: number | null;
            /** Ci Low Percent */
            ci_low_percent?: number | null;
            /** Effect Percent */
            effect_percent?: number | null;
            /** High Percent */
            high_percent: number;
            /**
             * Host
             * @default
             */
            host: string;
            /** Low Percent */
            low_percent: number;
            /** Metric */
            metric: string;
            /** Mode */
            mode: string;
            /**
             * N
             * @default 0
             */
            n: number;
            /**
             * Note
             * @description which of the source's figures of one case it is
             * @default
             */
            note: string;
            outcome: components["schemas"]["ClaimOutcome"];
            /**
             * Reason
             * @description why it came out so, in words
             */
            reason: string;
            /** Title */
            title: string;
        };
        /**
         * ClassPage
         * @description What there is of one host class.
         */
        ClassPage: {
            /** Changed */
            changed: number;
            /** Environment */
            environment: string;
            /** Host Class */
            host_class: string;
            /** Hosts */
            hosts: string[];
            /** Trends */
            trends: number;
            /** Workloads */
            workloads: string[];
        };
        /**
         * Clock
         * @description What drives a host's clock.
         * @enum {string}
         */
        Clock: "real" | "counted";
        /**
         * CollectedChart
         * @description One figure of a collector over the time of a case, arms over one another.
         */
        CollectedChart: {
            /** Collector */
            collector: string;
            /** Figure */
            figure: string;
            /** Lines */
            lines: components["schemas"]["CollectedLine"][];
            /**
             * Seconds
             * @description middles of the bins, from the first sample on
             */
            seconds: number[];
            /** Title */
            title: string;
            /** Unit */
            unit: string;
        };
        /**
         * CollectedLine
         * @description One arm in one chart: the mean over its boots in each bin, and the boots' range.
         */
        CollectedLine: {
            /** Arm */
            arm: string;
            /** Arm Id */
            arm_id: number;
            /**
             * Boots
             * @description boots that count and have the series
             */
            boots: number;
            /** High */
            high: (number | null)[];
            /**
             * Low
             * @description the lowest boot in each bin
             */
            low: (number | null)[];
            /**
             * Mean
             * @description over the measured iterations, mean of the boots
             */
            mean: number | null;
            /**
             * Values
             * @description one a bin; null: nothing was sampled
             */
            values: (number | null)[];
        };
        /**
         * CollectedView
         * @description What was collected beside one case on one host.
         */
        CollectedView: {
            /** Absent */
            absent: components["schemas"]["Absent"][];
            /**
             * Boots
             * @description boots that count and have anything
             */
            boots: number;
            /** Case Id */
            case_id: number;
            /** Charts */
            charts: components["schemas"]["CollectedChart"][];
            clock: components["schemas"]["Clock"];
            /**
             * Cost Percent
             * @description largest part of the host's processors that collecting took in a boot
             */
            cost_percent: number | null;
            /** Emulated */
            emulated: boolean;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
            /** Reasons */
            reasons: components["schemas"]["ReasonTable"][];
        };
        /**
         * Column
         * @description A column of a table.
         */
        Column: {
            /**
             * Right
             * @default false
             */
            right: boolean;
            /** Title */
            title: string;
        };
        /**
         * ComparisonForecast
         * @description One comparison of the spec.
         */
        ComparisonForecast: {
            /**
             * Arms
             * @description names, the baseline first
             */
            arms: string[];
            /**
             * Blocks
             * @description at most; it ends as soon as all is decided
             */
            blocks: number;
            /**
             * Boots
             * @description at most, over all hosts
             */
            boots: number;
            /** Cases */
            cases: number;
            /** Hosts */
            hosts: string[];
            /** Name */
            name: string;
            /**
             * Values
             * @description values that are stored, at most
             */
            values: number;
        };
        /**
         * ComparisonHead
         * @description Arms sharing a baseline, on some hosts, over some cases.
         */
        ComparisonHead: {
            /** Arms */
            arms: components["schemas"]["ArmView"][];
            /**
             * Counted
             * @description whether a host's time counts instructions
             * @default false
             */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /**
             * Factorial
             * @description whether its arms are those of a factorial design
             * @default false
             */
            factorial: boolean;
            /** Family Title */
            family_title: string;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
        };
        /**
         * ComparisonView
         * @description A comparison with its matrix.
         */
        ComparisonView: {
            /** Arms */
            arms: components["schemas"]["ArmView"][];
            /**
             * Counted
             * @description whether a host's time counts instructions
             * @default false
             */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /**
             * Factorial
             * @description whether its arms are those of a factorial design
             * @default false
             */
            factorial: boolean;
            /** Family Title */
            family_title: string;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Rows */
            rows: components["schemas"]["RowView"][];
        };
        /**
         * ConsequenceView
         * @description What one arm changed of costs of single operations, and of real work beside them.
         */
        ConsequenceView: {
            /** Arm */
            arm: string;
            /** Baseline */
            baseline: string;
            /** Host */
            host: string;
            /**
             * Macro
             * @description primary metrics of other workloads in the same mode on the same host; empty: none was measured
             */
            macro: components["schemas"]["VerdictSummary"][];
            /**
             * Micro
             * @description decided changes of micro workloads
             */
            micro: components["schemas"]["VerdictSummary"][];
            /** Mode */
            mode: string;
        };
        /**
         * ConsequencesView
         * @description Of one experiment.
         */
        ConsequencesView: {
            /** Consequences */
            consequences: components["schemas"]["ConsequenceView"][];
            /** Cost Models */
            cost_models: components["schemas"]["CostModelView"][];
            /** Experiment Id */
            experiment_id: number;
        };
        /**
         * CostModelView
         * @description Rate of exits × cost of one, beside the measured change of one case and metric.
         */
        CostModelView: {
            /** Arm */
            arm: string;
            /** Base Cost Ns */
            base_cost_ns: number | null;
            /** Base Rate */
            base_rate: number;
            /** Base Share Percent */
            base_share_percent: number;
            /** Baseline */
            baseline: string;
            /** Blocks */
            blocks: number;
            /** @description since each is dearer, or cheaper */
            by_cost: components["schemas"]["EstimateView"];
            /** @description since there are more of them, or fewer */
            by_rate: components["schemas"]["EstimateView"];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /**
             * Cost Cases
             * @description cases of the same boots that say what an exit costs
             */
            cost_cases: string[];
            /**
             * Cost Ns
             * @description of one, mean over their kinds; null: none came
             */
            cost_ns: number | null;
            /**
             * Explained Percent
             * @description predicted over measured; null: no change was measured
             */
            explained_percent: number | null;
            /** Host */
            host: string;
            measured: components["schemas"]["EstimateView"];
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            predicted: components["schemas"]["EstimateView"];
            /**
             * Rate
             * @description costed exits a second: all, where a case prices those to the kernel; else those to user space
             */
            rate: number;
            /** @description measured and not explained by exits */
            rest: components["schemas"]["EstimateView"];
            /**
             * Share Percent
             * @description of a virtual processor's time, in exits
             */
            share_percent: number;
            /**
             * Vcpus
             * @description virtual processors that share the exits
             */
            vcpus: number;
        };
        /**
         * CounterArm
         * @description A column.
         */
        CounterArm: {
            /** Arm Id */
            arm_id: number;
            /** Is Baseline */
            is_baseline: boolean;
            /**
             * Kernel
             * @description empty: the host's own
             */
            kernel: string;
            /** Mode */
            mode: string;
            /** Name */
            name: string;
        };
        /**
         * CounterCell
         * @description One counter in one arm: what an operation costs, and the change against the baseline.
         */
        CounterCell: {
            /** Arm Id */
            arm_id: number;
            /** Change Percent */
            change_percent?: number | null;
            /** Claims */
            claims: components["schemas"]["CounterClaim"][];
            /** High Percent */
            high_percent?: number | null;
            /** Low Percent */
            low_percent?: number | null;
            /**
             * Mean
             * @description of an operation, in the row's unit
             */
            mean: number | null;
            /**
             * N
             * @description boots that count
             */
            n: number;
            /**
             * Note
             * @default
             */
            note: string;
            state: components["schemas"]["CellState"];
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /**
         * CounterClaim
         * @description A published change that stands beside a cell.
         */
        CounterClaim: {
            /** High Percent */
            high_percent: number;
            /** Low Percent */
            low_percent: number;
            outcome: components["schemas"]["ClaimOutcome"];
            /** Reason */
            reason: string;
            /** Source */
            source: string;
        };
        /**
         * CounterRow
         * @description A counter, or the case's primary metric above them.
         */
        CounterRow: {
            /** Cells */
            cells: components["schemas"]["CounterCell"][];
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Is Counter */
            is_counter: boolean;
            /** Metric */
            metric: string;
            /** Title */
            title: string;
            /** Unit */
            unit: string;
        };
        /**
         * CounterTable
         * @description One case on one host.
         */
        CounterTable: {
            /**
             * Absent
             * @description counters that this host does not count; never zero
             */
            absent: string[];
            /**
             * Arms
             * @description the baseline first
             */
            arms: components["schemas"]["CounterArm"][];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Comparison */
            comparison: string;
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Host */
            host: string;
            /** Host Class */
            host_class: string;
            /** Processor */
            processor: string;
            /** Rows */
            rows: components["schemas"]["CounterRow"][];
        };
        /**
         * CounterView
         * @description One hardware counter: mean over boots, and against the baseline.
         */
        CounterView: {
            /** Counter */
            counter: string;
            /** Difference Percent */
            difference_percent?: number | null;
            /** High Percent */
            high_percent?: number | null;
            /** Low Percent */
            low_percent?: number | null;
            /** Mean */
            mean: number;
            /** N */
            n: number;
        };
        /**
         * CountersView
         * @description The counter tables of an experiment.
         */
        CountersView: {
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /**
             * Left Out
             * @description tables beyond the limit, or not asked for
             */
            left_out: number;
            /** State */
            state: string;
            /** Tables */
            tables: components["schemas"]["CounterTable"][];
        };
        /**
         * Counts
         * @description Verdicts on primary metrics that were given this week.
         */
        Counts: {
            /**
             * Better
             * @default 0
             */
            better: number;
            /**
             * Same
             * @default 0
             */
            same: number;
            /**
             * Undecided
             * @default 0
             */
            undecided: number;
            /**
             * Worse
             * @default 0
             */
            worse: number;
        };
        /**
         * CurveLine
         * @description One arm's curve.
         */
        CurveLine: {
            /** Arm Id */
            arm_id: number;
            /** Boots */
            boots: number;
            /** Points */
            points: components["schemas"]["CurvePoint"][];
        };
        /**
         * CurvePoint
         * @description The value at one load, over an arm's boots.
         */
        CurvePoint: {
            /**
             * Boots
             * @description that tell a value there
             */
            boots: number;
            /** High */
            high: number | null;
            /** Load */
            load: number;
            /**
             * Low
             * @description null: one boot
             */
            low: number | null;
            /** Value */
            value: number;
        };
        /**
         * CurveView
         * @description A value over a load, arms over one another.
         */
        CurveView: {
            /** Count */
            count: string;
            /** Lines */
            lines: components["schemas"]["CurveLine"][];
            /** Load */
            load: string;
            reached: components["schemas"]["DetailFigure"];
            /** Thresholds */
            thresholds: components["schemas"]["ReachedRow"][];
            /** Title */
            title: string;
            value: components["schemas"]["DetailFigure"];
        };
        /**
         * DataTable
         * @description Rows of cells, one for each column. Columns of arms begin with the baseline's.
         */
        DataTable: {
            /**
             * Caption
             * @default
             */
            caption: string;
            /**
             * Claims
             * @description where a text has claims: in a column if it fits, or a line each
             * @default beside
             * @enum {string}
             */
            claims: "beside" | "below";
            /**
             * Claims Title
             * @default
             */
            claims_title: string;
            /** Columns */
            columns: components["schemas"]["TableColumn"][];
            /**
             * Crossed
             * @description the first two columns cross: a page may show them as rows and columns
             * @default false
             */
            crossed: boolean;
            /**
             * More
             * @description titles of further figures, with their unit
             */
            more?: {
                [key: string]: string;
            };
            /** Notes */
            notes?: components["schemas"]["TableNote"][];
            /** Rows */
            rows: (components["schemas"]["TextCell"] | components["schemas"]["Quantity"] | components["schemas"]["Answer"])[][];
        };
        /**
         * DetailArm
         * @description An arm, in the comparison's order.
         */
        DetailArm: {
            /** Arm Id */
            arm_id: number;
            /**
             * Boots
             * @description that count and tell details
             */
            boots: number;
            /** Is Baseline */
            is_baseline: boolean;
            /** Mode */
            mode: string;
            /** Name */
            name: string;
        };
        /**
         * DetailCell
         * @description One figure of one arm over its boots, with 95 % intervals; exploratory, without a verdict.
         */
        DetailCell: {
            /** Arm Id */
            arm_id: number;
            /**
             * At Least
             * @description some boots never reached it and count as the most that was tried
             */
            at_least: boolean;
            /**
             * Boots
             * @description that have a value
             */
            boots: number;
            /** Change High */
            change_high: number | null;
            /**
             * Change Low
             * @description for all arms at once (Dunnett)
             */
            change_low: number | null;
            /**
             * Change Percent
             * @description against the baseline, boots compared within blocks
             */
            change_percent: number | null;
            /** High */
            high: number | null;
            /**
             * Low
             * @description null: one boot, or not reached in all
             */
            low: number | null;
            /** Note */
            note: string;
            /**
             * Of
             * @description that count and tell details
             */
            of: number;
            /**
             * Value
             * @description mean over the boots, geometric where the unit acts by factors
             */
            value: number | null;
        };
        /**
         * DetailFigure
         * @description One quantity.
         */
        DetailFigure: {
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Help */
            help: string;
            /** Name */
            name: string;
            /** Title */
            title: string;
            /** Unit */
            unit: string;
        };
        /**
         * DetailsView
         * @description What one case on one host tells besides its metrics.
         */
        DetailsView: {
            /** Arms */
            arms: components["schemas"]["DetailArm"][];
            /** Breakdowns */
            breakdowns: components["schemas"]["BreakdownView"][];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            clock: components["schemas"]["Clock"];
            /** Comparison */
            comparison: string;
            curve: components["schemas"]["CurveView"] | null;
            /**
             * Declared
             * @description whether the workload tells anything besides its metrics
             */
            declared: boolean;
            /** Emulated */
            emulated: boolean;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
            /**
             * Untold
             * @description boots that count and measured the case, but tell nothing that can be shown
             */
            untold: number;
            /** Workload */
            workload: string;
        };
        /**
         * DiffArray
         * @description Where one array is.
         */
        DiffArray: {
            /**
             * Length
             * @description in items
             */
            length: number;
            /**
             * Offset
             * @description in bytes, from the end of the header
             */
            offset: number;
            /**
             * Type
             * @enum {string}
             */
            type: "int32" | "float32" | "float64" | "uint8";
        };
        /**
         * DiffHeader
         * @description The header of a diff's binary answer; it says where each of the arrays is that follow.
         */
        DiffHeader: {
            a: components["schemas"]["DiffSide"];
            /** Arrays */
            arrays: {
                [key: string]: components["schemas"]["DiffArray"];
            };
            b: components["schemas"]["DiffSide"];
            /**
             * Bases
             * @description those that both sides have
             */
            bases: ("operation" | "share" | "raw")[];
            /**
             * Basis
             * @enum {string}
             */
            basis: "operation" | "share" | "raw";
            /** Case */
            case: number | null;
            /**
             * Counted
             * @description time counts instructions on a side
             */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Event */
            event: string;
            /**
             * Exact
             * @description totals are exact counts; the shape alone is sampled
             */
            exact: boolean;
            /** Experiment */
            experiment: number | null;
            /** Host */
            host: string;
            /**
             * Merged
             * @description threads and compiled clones are one
             */
            merged: boolean;
            /**
             * Names
             * @description by symbol; the first is the root's
             */
            names: string[];
            pruned: components["schemas"]["DiffPruned"];
            /**
             * Raw Names
             * @description by symbol: the names that the rules made one
             */
            raw_names: {
                [key: string]: string[];
            };
            /**
             * Renamed
             * @description by symbol: the name that the function has in side a
             */
            renamed: {
                [key: string]: string;
            };
            /** Rules Version */
            rules_version: number;
            /**
             * Svg By
             * @description the program that can draw an SVG here
             */
            svg_by: string | null;
            /** Title */
            title: string;
            /** Unit */
            unit: string;
            /**
             * Where
             * @description the system that was profiled
             * @enum {string}
             */
            where: "host" | "guest" | "off-cpu";
            /**
             * Wheres
             * @description the systems of which the case has profiles
             */
            wheres: ("host" | "guest" | "off-cpu")[];
        };
        /**
         * DiffPruned
         * @description Frames that are left out for their width, and their cost on each side in the unit.
         */
        DiffPruned: {
            /** A */
            a: number;
            /** B */
            b: number;
            /** Nodes */
            nodes: number;
        };
        /**
         * DiffSide
         * @description One side of a diff: its boots together.
         */
        DiffSide: {
            /** Boots */
            boots: number;
            /**
             * Idle Percent
             * @description left out, because the processor waited
             */
            idle_percent: number;
            /** Label */
            label: string;
            /**
             * Lost
             * @description samples that the recording host had to drop
             */
            lost: number;
            /** @description null for imported profiles */
            of: components["schemas"]["Selection"] | null;
            /** Operations */
            operations: number | null;
            /** Samples */
            samples: number;
            /**
             * Total
             * @description mean cost of everything, in the diff's unit
             */
            total: number;
            /**
             * Truncated Percent
             * @description of the weight, without its outer frames
             */
            truncated_percent: number;
            /**
             * Unknown Percent
             * @description of the weight, with a frame without a name
             */
            unknown_percent: number;
        };
        /**
         * Document
         * @description The whole report, in the order in which it is read.
         */
        Document: {
            /** Lead */
            lead: components["schemas"]["Span"][][];
            /** Sections */
            sections: components["schemas"]["Section"][];
            /**
             * Subject
             * @description of the mail
             */
            subject: string;
            /** Title */
            title: string;
            /** Week */
            week: string;
        };
        /**
         * DriftView
         * @description A moment from which on the host was another one: its fingerprint changed.
         */
        DriftView: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /**
             * Back
             * @description whether the host had shown this one before
             */
            back: boolean;
            /** Changed */
            changed: components["schemas"]["FactChangeView"][];
            /**
             * From Id
             * @description the fingerprint before
             */
            from_id: number;
            /** To Id */
            to_id: number;
        };
        /**
         * EarlierVerdict
         * @description What was said of an arm, and no longer holds.
         */
        EarlierVerdict: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Blocks */
            blocks: number;
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            /** Effect Percent */
            effect_percent: number | null;
            /** N */
            n: number;
            /** Reason */
            reason: string;
            verdict: components["schemas"]["Verdict"] | null;
            /** Version */
            version: number;
        };
        /**
         * Effect
         * @description A difference from a baseline, by default in percent of it, signed as measured.
         */
        Effect: {
            /**
             * @description what the value says of the true difference
             * @default exact
             */
            bound: components["schemas"]["Bound"];
            /** High */
            high?: number | null;
            /**
             * Low
             * @description of the 95 % interval; null: there is none
             */
            low?: number | null;
            /**
             * Mde
             * @description smallest detectable effect, in the same unit
             */
            mde?: number | null;
            /**
             * N
             * @description boots, or blocks, that it rests on
             */
            n?: number | null;
            /**
             * Note
             * @default
             */
            note: string;
            /** P */
            p?: number | null;
            /**
             * Q
             * @description false discovery rate, where many are looked at
             */
            q?: number | null;
            /**
             * Unit
             * @description `percent`: of the baseline
             * @default percent
             */
            unit: string;
            /** Value */
            value: number;
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /**
         * Entry
         * @description One thing that is told in a few lines.
         */
        Entry: {
            /** Head */
            head: components["schemas"]["Span"][];
            /** Lines */
            lines: components["schemas"]["Span"][][];
            picture?: components["schemas"]["Picture"] | null;
        };
        /**
         * EntryKind
         * @description What an entry of a regression's history says.
         * @enum {string}
         */
        EntryKind: "found" | "state" | "owner" | "bug" | "bisection" | "joined" | "note";
        /**
         * EntryView
         * @description One entry of a regression's history.
         */
        EntryView: {
            /** After */
            after: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Before */
            before: string;
            /** By */
            by: string;
            /** Id */
            id: number;
            kind: components["schemas"]["EntryKind"];
            /** Text */
            text: string;
        };
        /**
         * EstimateView
         * @description Percent of the baseline's time per unit of work, with its 95 % interval over blocks.
         */
        EstimateView: {
            /** High */
            high: number;
            /** Low */
            low: number;
            /** Percent */
            percent: number;
        };
        /**
         * EventView
         * @description One line of a run's event log.
         */
        EventView: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Host */
            host: string;
            /** Id */
            id: number;
            /** Kind */
            kind: string;
            /** Run Id */
            run_id: number | null;
            /** Text */
            text: string;
        };
        /**
         * ExactFunctionRow
         * @description Instructions of a function an operation; + is more in B.
         */
        ExactFunctionRow: {
            /** A */
            a: number;
            /** B */
            b: number;
            /** Difference */
            difference: number;
            /**
             * Exact
             * @description the difference as a whole number, where both sides ran the same each time
             */
            exact: number | null;
            /**
             * Function
             * @description empty: what no symbol covers
             */
            function: string;
            /** High */
            high?: number | null;
            /**
             * Low
             * @description of the difference, 95 %; where boots differ
             */
            low?: number | null;
            /**
             * Mark
             * @default
             * @enum {string}
             */
            mark: "" | "new" | "gone" | "renamed";
            /**
             * Module
             * @description kernel, a module of it, or a program's file
             */
            module: string;
            /**
             * Was
             * @description its name in A's kernel, where B's has another one
             * @default
             */
            was: string;
        };
        /**
         * ExactLineRow
         * @description An instruction on both sides; a side that lacks it has no place and no text.
         */
        ExactLineRow: {
            /**
             * A
             * @description how often an operation runs it
             */
            a: number;
            /** B */
            b: number;
            /**
             * Mark
             * @default
             * @enum {string}
             */
            mark: "" | "new" | "gone" | "renamed";
            /** Place A */
            place_a: number | null;
            /** Place B */
            place_b: number | null;
            /**
             * Repeats A
             * @description of them, those of one string instruction that repeats itself
             * @default 0
             */
            repeats_a: number;
            /**
             * Repeats B
             * @default 0
             */
            repeats_b: number;
            /** Text A */
            text_a: string;
            /** Text B */
            text_b: string;
        };
        /**
         * ExactSide
         * @description One side: the mean of its boots, of one operation.
         */
        ExactSide: {
            /** Boots */
            boots: number;
            /**
             * Counted Ns
             * @description what the instructions take in counted time
             */
            counted_ns: number;
            /**
             * Instructions
             * @description all that ran, whatever it was for
             */
            instructions: number;
            /** Label */
            label: string;
            /**
             * Lines
             * @description of 64 bytes of code that each operation runs through
             */
            lines: number;
            /**
             * Measured Ns
             * @description what the workload measured of the same operations
             */
            measured_ns: number;
            /**
             * Missing
             * @description why boots of this side have no counts
             */
            missing: string[];
            of: components["schemas"]["Selection"];
            /**
             * Pages
             * @description of 4 KiB of code that each operation runs through
             */
            pages: number;
            /**
             * Steady
             * @description of them, those that each operation ran, each time as often
             */
            steady: number;
        };
        /**
         * ExactTable
         * @description Two arms of a case by exact counts, the largest difference first.
         */
        ExactTable: {
            a: components["schemas"]["ExactSide"];
            b: components["schemas"]["ExactSide"];
            /**
             * Bill
             * @description events that either side has
             */
            bill: components["schemas"]["BillRow"][];
            /**
             * Difference
             * @description instructions an operation, B - A
             */
            difference: number;
            /**
             * Exact
             * @description of those that each operation runs, the same number each time, B - A; none where a function has others beside them
             */
            exact: number | null;
            /** Footprint */
            footprint: components["schemas"]["FootprintRow"][];
            /**
             * Function
             * @description whose instructions are listed; empty: of none
             */
            function: string;
            /** Functions */
            functions: components["schemas"]["ExactFunctionRow"][];
            /** High */
            high?: number | null;
            /** Host */
            host: string;
            /** Instructions */
            instructions: components["schemas"]["ExactLineRow"][];
            /**
             * Left Out
             * @description functions beyond the longest list, of the least difference
             */
            left_out: number;
            /**
             * Low
             * @description of the difference, 95 %; where boots differ
             */
            low?: number | null;
            /**
             * Predictions
             * @description one for each processor with prices
             */
            predictions: components["schemas"]["PredictedCost"][];
            /** Title */
            title: string;
            /**
             * Why None
             * @description why there is nothing to compare; empty otherwise
             */
            why_none: string;
        };
        /**
         * ExperimentChoices
         * @description What experiments can be filtered by: whatever one of them has.
         */
        ExperimentChoices: {
            /** Hosts */
            hosts: string[];
            /**
             * Modes
             * @description FAMILY/MODE
             */
            modes: string[];
            /** Who */
            who: string[];
            /** Workloads */
            workloads: string[];
        };
        /**
         * ExperimentHead
         * @description One experiment without its matrices.
         */
        ExperimentHead: {
            /** Boots Done */
            boots_done: number;
            /** Boots Total */
            boots_total: number;
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonHead"][];
            /**
             * Counted
             * @description whether a host's time counts instructions
             * @default false
             */
            counted: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Finished At */
            finished_at: string | null;
            /**
             * Headline
             * @description verdicts by kind, and the plainest effect, in words
             * @default
             */
            headline: string;
            /**
             * Host Facts
             * @description by host name
             */
            host_facts?: {
                [key: string]: components["schemas"]["HostFacts"];
            };
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Question */
            question: string;
            /** @description null: it ran here */
            recorded?: components["schemas"]["Recorded"] | null;
            /** Runs */
            runs: components["schemas"]["RunView"][];
            /** Seed */
            seed: number;
            /** Spec Text */
            spec_text: string;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["ExperimentState"];
            /**
             * Submitted By
             * @description who may cancel it beside approvers and admins
             */
            submitted_by: string;
            /**
             * Worst Effect Percent
             * @description the plainest effect, where it is for the worse; null: nothing is worse
             */
            worst_effect_percent?: number | null;
        };
        /**
         * ExperimentPage
         * @description Some experiments of those that were asked for.
         */
        ExperimentPage: {
            /** Experiments */
            experiments: components["schemas"]["ExperimentSummary"][];
            /**
             * Next
             * @description `before` of the next page; null: this is the last, or not newest first
             */
            next: number | null;
            /**
             * Next Offset
             * @description `offset` of the next page beside the same `before`; null: this is the last
             */
            next_offset: number | null;
            /** Offset */
            offset: number;
            /**
             * Total
             * @description on all pages, whatever `before` and `offset` leave out
             */
            total: number;
        };
        /**
         * ExperimentState
         * @description Where an experiment stands; see docs/states.md.
         * @enum {string}
         */
        ExperimentState: "queued" | "running" | "finished" | "failed" | "cancelled";
        /**
         * ExperimentSummary
         * @description A line in the list of experiments.
         */
        ExperimentSummary: {
            /** Boots Done */
            boots_done: number;
            /** Boots Total */
            boots_total: number;
            /**
             * Counted
             * @description whether a host's time counts instructions
             * @default false
             */
            counted: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Emulated */
            emulated: boolean;
            /** Finished At */
            finished_at: string | null;
            /**
             * Headline
             * @description verdicts by kind, and the plainest effect, in words
             * @default
             */
            headline: string;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Question */
            question: string;
            /** @description null: it ran here */
            recorded?: components["schemas"]["Recorded"] | null;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["ExperimentState"];
            /**
             * Submitted By
             * @description who may cancel it beside approvers and admins
             */
            submitted_by: string;
            /**
             * Worst Effect Percent
             * @description the plainest effect, where it is for the worse; null: nothing is worse
             */
            worst_effect_percent?: number | null;
        };
        /**
         * ExperimentView
         * @description One experiment with its matrices.
         */
        ExperimentView: {
            /** Boots Done */
            boots_done: number;
            /** Boots Total */
            boots_total: number;
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonView"][];
            /**
             * Counted
             * @description whether a host's time counts instructions
             * @default false
             */
            counted: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Finished At */
            finished_at: string | null;
            /**
             * Headline
             * @description verdicts by kind, and the plainest effect, in words
             * @default
             */
            headline: string;
            /**
             * Host Facts
             * @description by host name
             */
            host_facts?: {
                [key: string]: components["schemas"]["HostFacts"];
            };
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Question */
            question: string;
            /** @description null: it ran here */
            recorded?: components["schemas"]["Recorded"] | null;
            /** Runs */
            runs: components["schemas"]["RunView"][];
            /** Seed */
            seed: number;
            /** Spec Text */
            spec_text: string;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["ExperimentState"];
            /**
             * Submitted By
             * @description who may cancel it beside approvers and admins
             */
            submitted_by: string;
            /**
             * Worst Effect Percent
             * @description the plainest effect, where it is for the worse; null: nothing is worse
             */
            worst_effect_percent?: number | null;
        };
        /**
         * FactChangeView
         * @description A fact that differs; null: the host did not show it.
         */
        FactChangeView: {
            /** After */
            after: string | null;
            /** Before */
            before: string | null;
            /** Name */
            name: string;
        };
        /**
         * FingerprintView
         * @description What the host was at one time; absent facts are null, never zero.
         */
        FingerprintView: {
            /** Boots */
            boots: number;
            /** Digest */
            digest: string;
            /** Facts */
            facts: {
                [key: string]: unknown;
            };
            /**
             * First Seen At
             * Format: date-time
             */
            first_seen_at: string;
            /** Id */
            id: number;
            /**
             * Last Seen At
             * Format: date-time
             */
            last_seen_at: string;
        };
        /**
         * FlameGraph
         * @description The stored profiles of parent and culprit: side *a* and side *b*, arms of the experiment.
         */
        FlameGraph: {
            /** A */
            a: string;
            /** B */
            b: string;
            /** Case Id */
            case_id: number;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
        };
        /**
         * FootprintRow
         * @description What each operation asks of caches and branch predictors, counted in pieces, not in time.
         */
        FootprintRow: {
            /** A */
            a: number;
            /** B */
            b: number;
            /** Difference */
            difference: number;
            /**
             * Exact
             * @description the difference as a whole number, where all boots of each side agree
             */
            exact: number | null;
            /**
             * Figure
             * @enum {string}
             */
            figure: "lines" | "pages" | "taken" | "indirect" | "returns" | "data_lines" | "data_written" | "data_pages" | "data_seldom";
            /** Title */
            title: string;
        };
        /**
         * Found
         * @description One thing that was found.
         */
        Found: {
            /**
             * Detail
             * @description state and the like, in one line
             */
            detail: string;
            /**
             * Href
             * @description its page of the dashboard; null: it has none
             */
            href: string | null;
            /**
             * Id
             * @description number, or the name that commands and addresses take
             */
            id: string;
            kind: components["schemas"]["FoundKind"];
            /** Title */
            title: string;
        };
        /**
         * FoundGroup
         * @description What was found of one kind: the best few, and how many there are.
         */
        FoundGroup: {
            /** Found */
            found: components["schemas"]["Found"][];
            kind: components["schemas"]["FoundKind"];
            /** Total */
            total: number;
        };
        /**
         * FoundKind
         * @description Kinds of what can be found, in the order in which they are shown.
         * @enum {string}
         */
        FoundKind: "experiment" | "regression" | "bisection" | "series" | "trend" | "host" | "kernel" | "week";
        /**
         * FunctionChange
         * @description A function whose own cost differs between an arm and the baseline.
         */
        FunctionChange: {
            /**
             * Difference
             * @description of its own cost, in the summary's unit; + is costlier
             */
            difference: number;
            /** Function */
            function: string;
            /** High */
            high: number;
            /** Low */
            low: number;
            /**
             * Percent Of Total
             * @description of the difference of everything together
             */
            percent_of_total?: number | null;
            /** Q */
            q: number;
        };
        /**
         * FunctionCost
         * @description What a function costs in one arm, in the view's unit.
         */
        FunctionCost: {
            /**
             * Difference
             * @description of the asked measure, from the baseline; + is costlier
             */
            difference?: number | null;
            /** High */
            high?: number | null;
            /** Low */
            low?: number | null;
            /**
             * Name
             * @description what the arm's kernel calls it, where that differs
             * @default
             */
            name: string;
            /**
             * Own
             * @description by itself
             */
            own: number;
            /**
             * Q
             * @description over the functions of all arms together
             */
            q?: number | null;
            /**
             * Total
             * @description with all that it calls; recursion counted once
             */
            total: number;
        };
        /**
         * FunctionOverArms
         * @description One function; a cell for each arm, null where the arm has no profile.
         */
        FunctionOverArms: {
            /** Cells */
            cells: (components["schemas"]["FunctionCost"] | null)[];
            /** Function */
            function: string;
        };
        /**
         * FunctionsView
         * @description Some functions of a case on a host over all arms.
         */
        FunctionsView: {
            /**
             * Arms
             * @description the baseline first
             */
            arms: components["schemas"]["ArmTotal"][];
            /** Bases */
            bases: string[];
            /** Basis */
            basis: string;
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /**
             * Event
             * @description empty where there is no profile yet
             */
            event: string;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /**
             * Found
             * @description functions that fit the search
             */
            found: number;
            /** Functions */
            functions: components["schemas"]["FunctionOverArms"][];
            /** Host */
            host: string;
            /**
             * Measure
             * @enum {string}
             */
            measure: "self" | "total";
            /**
             * Most
             * @description largest cost of the asked measure of any arm: a common scale
             */
            most: number;
            /** Offset */
            offset: number;
            /**
             * System
             * @enum {string}
             */
            system: "host" | "guest" | "off-cpu";
            /**
             * Systems
             * @description those of which the case has profiles
             */
            systems: ("host" | "guest" | "off-cpu")[];
            /** Unit */
            unit: string;
        };
        /**
         * Health
         * @description An answer at all is what counts.
         */
        Health: {
            /** Status */
            status: string;
            /**
             * Version
             * @description the service's own
             * @default 0.1.0
             */
            version: string;
        };
        /**
         * HomeView
         * @description The service at a glance, the same for everybody.
         */
        HomeView: {
            /** Approvals */
            approvals: components["schemas"]["Approval-Output"][];
            /**
             * Experiments
             * @description of all times
             */
            experiments: number;
            /** Hosts */
            hosts: components["schemas"]["HostForAPerson"][];
            /**
             * Jobs
             * @description jobs that failed within the last days
             */
            jobs: components["schemas"]["JobView"][];
            /**
             * Latest
             * @description experiments that ended last
             */
            latest: components["schemas"]["ExperimentSummary"][];
            /**
             * Now
             * Format: date-time
             */
            now: string;
            /** Regression Counts */
            regression_counts: {
                [key: string]: number;
            };
            /**
             * Regressions
             * @description those that nobody took yet, the newest
             */
            regressions: components["schemas"]["RegressionSummary"][];
            /**
             * Requests
             * @description mails whose sender nothing proves, to be looked at
             */
            requests: number;
            /** Running */
            running: components["schemas"]["RunningNow"][];
            /** Running Total */
            running_total: number;
            /** Waiting */
            waiting: components["schemas"]["WaitingForHosts"][];
            /**
             * Waiting Total
             * @description runs that wait for a host
             */
            waiting_total: number;
            /**
             * Workers
             * @description that work now
             */
            workers: number;
        };
        /**
         * HostFacts
         * @description What a host was while this experiment ran, from its proofs; unknown facts stay empty.
         */
        HostFacts: {
            /** @default real */
            clock: components["schemas"]["Clock"];
            /**
             * Emulated
             * @default false
             */
            emulated: boolean;
            /**
             * Governor
             * @default
             */
            governor: string;
            /**
             * Host Class
             * @default
             */
            host_class: string;
            /**
             * Kernels
             * @description releases that boots really ran
             */
            kernels?: string[];
            /**
             * Microcode
             * @default
             */
            microcode: string;
            /** Name */
            name: string;
            /**
             * Processor
             * @default
             */
            processor: string;
            /**
             * Smt
             * @default
             */
            smt: string;
        };
        /**
         * HostForAPerson
         * @description A host on which nothing will run until a person does something.
         */
        HostForAPerson: {
            /** Environment */
            environment: string;
            /** Host */
            host: string;
            /**
             * Waiting
             * @description runs that wait for it
             */
            waiting: number;
            /** Why */
            why: string;
        };
        /**
         * HostForecast
         * @description What the spec asks of one host.
         */
        HostForecast: {
            /**
             * Boots
             * @description at most
             */
            boots: number;
            /**
             * Emulated
             * @description null: the host took part in nothing yet
             */
            emulated: boolean | null;
            /** Host */
            host: string;
            /**
             * Kept
             * @description why no run begins on it at present; empty: one may
             */
            kept: string;
            /**
             * Measuring S
             * @description what the workloads' files say that measuring takes
             */
            measuring_s: number;
            /**
             * Takes S
             * @description boots and measuring, by the boots that were made on the host before; null: none was
             */
            takes_s: number | null;
            /**
             * Waiting
             * @description runs that hold it or wait for it now
             */
            waiting: number;
        };
        /**
         * HostHoursView
         * @description What the host's time went into, in runs that are over. Seconds.
         */
        HostHoursView: {
            /** Booting S */
            booting_s: number;
            /** Held S */
            held_s: number;
            /**
             * Lost S
             * @description set aside or reserved: no run could begin
             */
            lost_s: number;
            /** Measuring S */
            measuring_s: number;
            /** Other S */
            other_s: number;
            /** Runs */
            runs: number;
            /**
             * Wasted S
             * @description of held_s: boots that count for nothing
             */
            wasted_s: number;
        };
        /**
         * HostPair
         * @description A host of A beside a host of B.
         */
        HostPair: {
            /** A */
            a: string;
            /** B */
            b: string;
            /**
             * How
             * @description same: one host; asked: by `hosts`; name: of one name in two environments; only: the one that was left on either side
             * @enum {string}
             */
            how: "same" | "asked" | "name" | "only";
        };
        /**
         * HostQueue
         * @description What a host does and what waits for it, in the order in which it will run.
         */
        HostQueue: {
            /** Environment */
            environment: string;
            /** Host */
            host: string;
            /**
             * Kept
             * @description why no run begins on it; empty: nothing stands against it
             * @default
             */
            kept: string;
            running: components["schemas"]["QueuedRun"] | null;
            /** Waiting */
            waiting: components["schemas"]["QueuedRun"][];
        };
        /**
         * HostState
         * @description What a host is in a list.
         * @enum {string}
         */
        HostState: "free" | "in-use" | "reserved" | "set-aside";
        /**
         * HostSummary
         * @description A line in the list of hosts.
         */
        HostSummary: {
            /** Boots */
            boots: number;
            /** Capabilities */
            capabilities: string[];
            /** @description what the host's time is, as its inventory says now */
            clock: components["schemas"]["Clock"];
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Host Class */
            host_class: string;
            /** Lab Faults */
            lab_faults: number;
            /** Last Seen At */
            last_seen_at: string | null;
            /**
             * Leased By
             * @description experiment that holds the host; empty: free
             * @default
             */
            leased_by: string;
            /** Name */
            name: string;
            /**
             * Power
             * @description driver that switches its power; none: a person must; null: not known
             */
            power?: string | null;
            /**
             * Probe At
             * @description when a run may try again whether the host is fine
             */
            probe_at: string | null;
            /**
             * Reserved By
             * @description who has it for a while; empty: nobody
             * @default
             */
            reserved_by: string;
            /**
             * Reserved Reason
             * @default
             */
            reserved_reason: string;
            /**
             * Reserved Until
             * @description null: nobody has reserved it
             */
            reserved_until: string | null;
            /**
             * Set Aside At
             * @description no run begins on the host since then; null: it is in use
             */
            set_aside_at: string | null;
            /**
             * Set Aside By
             * @description who set it aside by hand; empty: a rule did
             * @default
             */
            set_aside_by: string;
            /**
             * Set Aside Reason
             * @default
             */
            set_aside_reason: string;
        };
        /**
         * HostTimeView
         * @description What the host of a run did with its time, in seconds.
         */
        HostTimeView: {
            /** Booting S */
            booting_s: number;
            /** Boots */
            boots: components["schemas"]["BootsView"][];
            /** Measuring S */
            measuring_s: number;
            /**
             * Other S
             * @description neither booting nor measuring: plays, judging, waiting
             */
            other_s: number;
            /** Total S */
            total_s: number;
        };
        /**
         * HostView
         * @description One host with what it was when it ran.
         */
        HostView: {
            /** Aa */
            aa: components["schemas"]["AaRateView"][];
            /**
             * Absences
             * @description newest first
             */
            absences: components["schemas"]["AbsenceView"][];
            /** Boots */
            boots: number;
            /** Capabilities */
            capabilities: string[];
            /** @description what the host's time is, as its inventory says now */
            clock: components["schemas"]["Clock"];
            /**
             * Drift
             * @description newest first
             */
            drift: components["schemas"]["DriftView"][];
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Experiments */
            experiments: components["schemas"]["ExperimentSummary"][];
            /** Fingerprints */
            fingerprints: components["schemas"]["FingerprintView"][];
            /** Host Class */
            host_class: string;
            hours: components["schemas"]["HostHoursView"];
            /** Lab Faults */
            lab_faults: number;
            /** Last Seen At */
            last_seen_at: string | null;
            /**
             * Leased By
             * @description experiment that holds the host; empty: free
             * @default
             */
            leased_by: string;
            /** Name */
            name: string;
            /** Noise */
            noise: components["schemas"]["MetricNoiseView"][];
            /**
             * Power
             * @description driver that switches its power; none: a person must; null: not known
             */
            power?: string | null;
            /**
             * Probe At
             * @description when a run may try again whether the host is fine
             */
            probe_at: string | null;
            queue: components["schemas"]["HostQueue"] | null;
            /**
             * Reserved By
             * @description who has it for a while; empty: nobody
             * @default
             */
            reserved_by: string;
            /**
             * Reserved Reason
             * @default
             */
            reserved_reason: string;
            /**
             * Reserved Until
             * @description null: nobody has reserved it
             */
            reserved_until: string | null;
            /**
             * Set Aside At
             * @description no run begins on the host since then; null: it is in use
             */
            set_aside_at: string | null;
            /**
             * Set Aside By
             * @description who set it aside by hand; empty: a rule did
             * @default
             */
            set_aside_by: string;
            /**
             * Set Aside Reason
             * @default
             */
            set_aside_reason: string;
        };
        /**
         * InstructionPart
         * @description A run of code: a function, or a part that the compiler put elsewhere (`f.cold`).
         */
        InstructionPart: {
            /**
             * Name A
             * @description empty where A lacks it
             */
            name_a: string;
            /** Name B */
            name_b: string;
            /** Rows */
            rows: components["schemas"]["InstructionRow"][];
        };
        /**
         * InstructionRow
         * @description An instruction on both sides, or on the one that has it.
         */
        InstructionRow: {
            /**
             * A
             * @description none where no boot of A counts
             */
            a: number | null;
            /** B */
            b: number | null;
            /** Difference */
            difference: number | null;
            /** High */
            high?: number | null;
            /**
             * Low
             * @description of the difference, 95 %; none without replicates
             */
            low?: number | null;
            /**
             * Mark
             * @enum {string}
             */
            mark: "" | "new" | "gone";
            /**
             * Place A
             * @description bytes after the function's start; none: A lacks it
             */
            place_a: number | null;
            /** Place B */
            place_b: number | null;
            /**
             * Q
             * @description over the instructions of this function
             */
            q?: number | null;
            /**
             * Samples A
             * @description of all boots together
             */
            samples_a: number;
            /** Samples B */
            samples_b: number;
            /** Text A */
            text_a: string;
            /** Text B */
            text_b: string;
        };
        /**
         * InstructionSum
         * @description All instructions that both sides have, or that one of them has.
         */
        InstructionSum: {
            /**
             * A
             * @description none where no boot of A counts
             */
            a: number | null;
            /** B */
            b: number | null;
            /** Difference */
            difference: number | null;
            /** High */
            high?: number | null;
            /** Instructions */
            instructions: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "both" | "new" | "gone";
            /**
             * Low
             * @description of the difference, 95 %; none without replicates
             */
            low?: number | null;
            /**
             * Q
             * @description over the instructions of this function
             */
            q?: number | null;
        };
        /**
         * InstructionTable
         * @description A function's instructions on both sides, as the kernel patched them in memory.
         */
        InstructionTable: {
            /** A */
            a: string;
            /** B */
            b: string;
            /** Basis */
            basis: string;
            /** Boots A */
            boots_a: number;
            /** Boots B */
            boots_b: number;
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Event */
            event: string;
            /** Function */
            function: string;
            /**
             * Functions
             * @description those with instructions, the hottest first
             */
            functions: string[];
            /** Host */
            host: string;
            /**
             * Missing A
             * @description boots whose code of this function was not kept
             */
            missing_a: number;
            /** Missing B */
            missing_b: number;
            /**
             * Other Code A
             * @description boots left out: their code is not that of most
             */
            other_code_a: number;
            /** Other Code B */
            other_code_b: number;
            /** Parts */
            parts: components["schemas"]["InstructionPart"][];
            /**
             * Skid
             * @description how far a sample may stand from what took the time
             */
            skid: string;
            /** Sums */
            sums: components["schemas"]["InstructionSum"][];
            /**
             * System
             * @enum {string}
             */
            system: "host" | "guest" | "off-cpu";
            /** Title */
            title: string;
            /** Unit */
            unit: string;
            /**
             * Why None
             * @description why there is no instruction to show
             * @default
             */
            why_none: string;
        };
        /**
         * JobAttemptView
         * @description One attempt at a step.
         */
        JobAttemptView: {
            /** Detail */
            detail: string;
            /** Epoch */
            epoch: number;
            /** Finished At */
            finished_at: string | null;
            /** Outcome */
            outcome: string;
            /**
             * Started At
             * Format: date-time
             */
            started_at: string;
            /** Worker */
            worker: string;
        };
        /**
         * JobEventView
         * @description A line of a job's log.
         */
        JobEventView: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Id */
            id: number;
            /** Text */
            text: string;
        };
        /**
         * JobKind
         * @description What a job does. A run is none of these: it has tables of its own.
         * @enum {string}
         */
        JobKind: "kernel" | "revision" | "bisection" | "archives" | "mailbox" | "weekly" | "backup" | "digests";
        /**
         * JobState
         * @description Where a job stands; see docs/states.md.
         * @enum {string}
         */
        JobState: "queued" | "running" | "done" | "failed" | "cancelled";
        /**
         * JobView
         * @description One job as it stands.
         */
        JobView: {
            /** Asked By */
            asked_by: string;
            /** Cancelled By */
            cancelled_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Error
             * @description why it failed, or why the last try did
             */
            error: string;
            /**
             * Failures
             * @description of our side, in a row
             */
            failures: number;
            /** Finished At */
            finished_at: string | null;
            /** Id */
            id: number;
            kind: components["schemas"]["JobKind"];
            /** @description what a worker must be able to do for it */
            need: components["schemas"]["Ability"];
            /**
             * Progress
             * @description what it does or waits for now
             */
            progress: string;
            /**
             * Result
             * @description `kernels`: ids; `experiment`: its id
             */
            result: {
                [key: string]: unknown;
            };
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["JobState"];
            /**
             * Subject
             * @description what it is about: a revision's or bisection's number
             */
            subject: string;
            /** Title */
            title: string;
            /**
             * Waits
             * @description why nobody works on it; empty where somebody may
             * @default
             */
            waits: string;
            /**
             * Wake At
             * Format: date-time
             * @description not before then is it gone on with
             */
            wake_at: string;
        };
        /**
         * JobWhole
         * @description One job with its log and its latest attempts.
         */
        JobWhole: {
            /** Asked By */
            asked_by: string;
            /** Attempts */
            attempts: components["schemas"]["JobAttemptView"][];
            /** Cancelled By */
            cancelled_by: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Error
             * @description why it failed, or why the last try did
             */
            error: string;
            /** Events */
            events: components["schemas"]["JobEventView"][];
            /**
             * Failures
             * @description of our side, in a row
             */
            failures: number;
            /** Finished At */
            finished_at: string | null;
            /** Id */
            id: number;
            kind: components["schemas"]["JobKind"];
            /** @description what a worker must be able to do for it */
            need: components["schemas"]["Ability"];
            /**
             * Progress
             * @description what it does or waits for now
             */
            progress: string;
            /**
             * Result
             * @description `kernels`: ids; `experiment`: its id
             */
            result: {
                [key: string]: unknown;
            };
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["JobState"];
            /**
             * Subject
             * @description what it is about: a revision's or bisection's number
             */
            subject: string;
            /** Title */
            title: string;
            /**
             * Waits
             * @description why nobody works on it; empty where somebody may
             * @default
             */
            waits: string;
            /**
             * Wake At
             * Format: date-time
             * @description not before then is it gone on with
             */
            wake_at: string;
        };
        /**
         * KernelRequest
         * @description A kernel to be built.
         */
        KernelRequest: {
            /**
             * Anew
             * @description whether what was built is built again
             * @default false
             */
            anew: boolean;
            /**
             * Base
             * @description a source package, or NAME@REVISION of a tree
             */
            base: string;
            /**
             * Label
             * @description for people
             * @default
             */
            label: string;
            /**
             * Layouts
             * @default 1
             */
            layouts: number;
            /**
             * Loose
             * @description whether patches may apply with less context
             * @default false
             */
            loose: boolean;
            /** Patches */
            patches?: components["schemas"]["PatchText"][];
            /**
             * Profile
             * @description a config profile of ours
             * @default lab
             */
            profile: string;
        };
        /**
         * KernelState
         * @description How far a kernel came.
         * @enum {string}
         */
        KernelState: "building" | "built" | "failed" | "removed";
        /**
         * KernelView
         * @description One kernel.
         */
        KernelView: {
            /** Base */
            base: string;
            /** Build Id */
            build_id: string | null;
            /** Config Refused */
            config_refused: string[];
            /** Content Digest */
            content_digest: string | null;
            /** Digest */
            digest: string;
            /** Error */
            error: string;
            /** Finished At */
            finished_at: string | null;
            /** Id */
            id: number;
            /** Imported */
            imported: boolean;
            /** Label */
            label: string;
            /** Layout */
            layout: string;
            /** Log Sha256 */
            log_sha256: string | null;
            /** Loosely */
            loosely: string[];
            /** Package Bytes */
            package_bytes: number | null;
            /** Patches */
            patches: components["schemas"]["PatchView"][];
            /** Profile */
            profile: string;
            /** Release */
            release: string | null;
            /**
             * Started At
             * Format: date-time
             */
            started_at: string;
            state: components["schemas"]["KernelState"];
            /** Toolchain */
            toolchain: string;
        };
        /**
         * LevelRatio
         * @description B's mean over A's, in percent, from the boots' means: confounded with host and week.
         */
        LevelRatio: {
            /** High Percent */
            high_percent: number | null;
            /**
             * Low Percent
             * @description of the 95 % interval; null: one boot
             */
            low_percent: number | null;
            /** Percent */
            percent: number;
        };
        /**
         * LinePoint
         * @description What one revision's experiment says of a row; null where it has no such row.
         */
        LinePoint: {
            /**
             * Across
             * @description whether the baseline runs on another kernel
             */
            across: boolean;
            /**
             * Baseline
             * @description the arm it is compared with
             */
            baseline: string;
            /** @description what the figures say of the true change */
            bound: components["schemas"]["Bound"];
            /** Case Id */
            case_id: number;
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            /** Effect Percent */
            effect_percent: number | null;
            /** Experiment Id */
            experiment_id: number;
            /** N */
            n: number;
            /** Revision */
            revision: string;
            state: components["schemas"]["CellState"];
            verdict: components["schemas"]["Verdict"] | null;
        };
        /**
         * LineRow
         * @description One case and arm over the revisions, in their order.
         */
        LineRow: {
            /** Arm */
            arm: string;
            /** Case */
            case: string;
            /** Comparison */
            comparison: string;
            /**
             * Counted
             * @description whether the host's time counts instructions
             */
            counted: boolean;
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Emulated */
            emulated: boolean;
            /**
             * First Worse
             * @description the first revision that is worse by more than counts as no difference
             */
            first_worse: string;
            /** Host */
            host: string;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Points */
            points: (components["schemas"]["LinePoint"] | null)[];
            /** Unit */
            unit: string;
        };
        /**
         * LogInWays
         * @description By what one may log in, beside a token.
         */
        LogInWays: {
            /**
             * Single Sign On
             * @description what the button calls it; empty: there is none
             */
            single_sign_on: string;
        };
        /**
         * LossAxis
         * @description One of the two families, and its modes in the order of the arms.
         */
        LossAxis: {
            /** Family */
            family: string;
            /** Modes */
            modes: string[];
        };
        /**
         * LossBlock
         * @description One host's cells, in the order of the axes; combinations without an arm are left out.
         */
        LossBlock: {
            /** Cells */
            cells: components["schemas"]["LossCell"][];
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Host */
            host: string;
            /** Host Class */
            host_class: string;
            /** Processor */
            processor: string;
        };
        /**
         * LossCell
         * @description One mode of the first family with one of the second, on one host.
         */
        LossCell: {
            /** Arm */
            arm: string;
            /** Arm Id */
            arm_id: number;
            /** Claims */
            claims: components["schemas"]["LossClaim"][];
            /** First */
            first: string;
            /** High Percent */
            high_percent?: number | null;
            /** Is Baseline */
            is_baseline: boolean;
            /** Loss Percent */
            loss_percent?: number | null;
            /** Low Percent */
            low_percent?: number | null;
            /** Mde Percent */
            mde_percent?: number | null;
            /**
             * Mean
             * @description in the metric's unit
             */
            mean: number | null;
            /**
             * N
             * @description boots that count
             */
            n: number;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Observed
             * @description what kernels said where the mode was not in force
             */
            observed: string[];
            /** Second */
            second: string;
            state: components["schemas"]["CellState"];
            verdict?: components["schemas"]["Verdict"] | null;
        };
        /**
         * LossChoice
         * @description A metric of a case that a table can be asked for.
         */
        LossChoice: {
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Primary */
            primary: boolean;
        };
        /**
         * LossClaim
         * @description A published loss that stands beside a cell.
         */
        LossClaim: {
            /** High Percent */
            high_percent: number;
            /**
             * Label
             * @description which of the source's figures, a processor perhaps
             */
            label: string;
            /** Low Percent */
            low_percent: number;
            outcome: components["schemas"]["ClaimOutcome"];
            /** Reason */
            reason: string;
            /** Source */
            source: string;
        };
        /**
         * LossTable
         * @description One metric of one case over the crossed modes, host by host.
         */
        LossTable: {
            /**
             * Baseline
             * @description the baseline's arm, and its mode
             */
            baseline: string;
            /** Blocks */
            blocks: components["schemas"]["LossBlock"][];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Comparison */
            comparison: string;
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            first: components["schemas"]["LossAxis"];
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Primary */
            primary: boolean;
            /**
             * Rest
             * @description what else these arms have in common: other modes, a kernel
             */
            rest: string;
            second: components["schemas"]["LossAxis"];
            /** Unit */
            unit: string;
            /** Workload */
            workload: string;
        };
        /**
         * LossView
         * @description The loss matrices of an experiment, primary metrics first.
         */
        LossView: {
            /**
             * Choices
             * @description every case and metric that has a table
             */
            choices: components["schemas"]["LossChoice"][];
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /**
             * Left Out
             * @description tables that were not asked for, or are beyond the limit
             */
            left_out: number;
            /** State */
            state: string;
            /** Tables */
            tables: components["schemas"]["LossTable"][];
        };
        /**
         * MatrixView
         * @description Every matrix of an experiment, from verdicts as they were stored.
         */
        MatrixView: {
            /** Experiment Id */
            experiment_id: number;
            /**
             * Rows
             * @description by comparison id
             */
            rows: {
                [key: string]: components["schemas"]["RowView"][];
            };
        };
        /**
         * Means
         * @description How a request says who it is from.
         * @enum {string}
         */
        Means: "nothing" | "token" | "session" | "proxy";
        /**
         * MetricNoiseView
         * @description How much a metric scatters on a host: standard deviations in percent, medians over cases.
         */
        MetricNoiseView: {
            /**
             * Boot Mean Percent
             * @description of a boot's mean, as it was seen
             */
            boot_mean_percent: number | null;
            /**
             * Boot Percent
             * @description boot to boot, the iterations' share removed
             */
            boot_percent: number | null;
            /** Cases */
            cases: number;
            /** Iteration Percent */
            iteration_percent: number | null;
            /** Metric */
            metric: string;
            /** Workload */
            workload: string;
            /**
             * Worst Percent
             * @description the noisiest case
             */
            worst_percent: number | null;
        };
        /**
         * MetricValues
         * @description Raw values of one metric, in order.
         */
        MetricValues: {
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /**
             * Disturbed
             * @description taken again, since the processor was slowed beside them; in no mean
             */
            disturbed: number[];
            /** Disturbed Slowdowns */
            disturbed_slowdowns: number[];
            /** Mean */
            mean: number;
            /** Slowdown Limit */
            slowdown_limit: number | null;
            /**
             * Slowdowns
             * @description of a fixed loop beside each of the values, over its fastest time on the host; empty where the workload times none
             */
            slowdowns: number[];
            /** Unit */
            unit: string;
            /** Values */
            values: number[];
            /** Warmup */
            warmup: number[];
        };
        /**
         * Missing
         * @description Something that a worker cannot do, and why.
         */
        Missing: {
            /** What */
            what: string;
            /** Why */
            why: string;
        };
        /**
         * MovedTo
         * @description Another case of the workload whose cost changed at the same time, the other way.
         */
        MovedTo: {
            /** Case */
            case: string;
            /**
             * Difference
             * @description in the metric's unit
             */
            difference: number;
            /** Trend Id */
            trend_id: number;
        };
        /**
         * NewAnnotation
         * @description What somebody says of a trend, or of one of its changes.
         */
        NewAnnotation: {
            /** Change Id */
            change_id?: number | null;
            /** Text */
            text: string;
        };
        /**
         * NewRegression
         * @description A cell of an experiment that somebody takes for a regression.
         */
        NewRegression: {
            /** Arm */
            arm: string;
            /**
             * Bug
             * @default
             */
            bug: string;
            /** Case Id */
            case_id: number;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
            /** Metric */
            metric: string;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Owner
             * @default
             */
            owner: string;
        };
        /**
         * NewSubscription
         * @description What somebody wants to hear of, and how.
         */
        NewSubscription: {
            /**
             * Address
             * @description a mail address or a URL
             */
            address: string;
            /**
             * At Once
             * @description within seconds, instead of a digest a day (mail) or 15 minutes
             * @default false
             */
            at_once: boolean;
            kind: components["schemas"]["SubscriptionKind"];
            /**
             * Subject
             * @description of which one: a series' name, ENVIRONMENT/HOST, or WORKLOAD/CASE, the case by its title; empty for the other kinds
             * @default
             */
            subject: string;
            /**
             * @description of a webhook's body
             * @default json
             */
            template: components["schemas"]["Template"];
            /**
             * Trend Id
             * @description for a case: a trend of it
             */
            trend_id?: number | null;
            way: components["schemas"]["TellWay"];
        };
        /**
         * NoiseView
         * @description Standard deviations in percent of the value; null where the boots cannot tell.
         */
        NoiseView: {
            /**
             * Boot Cost S
             * @description a boot's own time, for each of its cases
             */
            boot_cost_s?: number | null;
            /**
             * Boot Mean Percent
             * @description what boots' means showed
             */
            boot_mean_percent?: number | null;
            /**
             * Boot Percent
             * @description of it, from boot to boot
             */
            boot_percent?: number | null;
            /** Iteration Cost S */
            iteration_cost_s?: number | null;
            /**
             * Iteration Percent
             * @description of one iteration within a boot
             */
            iteration_percent?: number | null;
            /**
             * Recommended Iterations
             * @description a boot next time, from the variances and costs above
             */
            recommended_iterations?: number | null;
            /**
             * Two Groups
             * @description arms whose boots fall into two groups
             */
            two_groups?: string[];
        };
        /**
         * NsInterval
         * @description Nanoseconds an operation more, with the 95 % interval.
         */
        NsInterval: {
            /** High */
            high: number;
            /** Low */
            low: number;
            /** Ns */
            ns: number;
        };
        /**
         * Origin
         * @description What a regression was seen in.
         * @enum {string}
         */
        Origin: "trend" | "cell";
        /**
         * OtherThreads
         * @description Names that are no row, in the boot with the most of them.
         */
        OtherThreads: {
            /** Names */
            names: number;
            /**
             * Wakeups
             * @description theirs in a second, the largest of all boots
             */
            wakeups: number;
        };
        /**
         * OtherTrend
         * @description A trend of the same case that is not the same: another unit, other parameters.
         */
        OtherTrend: {
            /** Id */
            id: number;
            /** Why */
            why: string;
        };
        /**
         * PairCell
         * @description What one experiment stored of a row.
         */
        PairCell: {
            /** Arm */
            arm: string;
            /**
             * Baseline
             * @description name of the arm that the effect is against
             */
            baseline: string;
            /** Blocks */
            blocks: number;
            bound: components["schemas"]["Bound"];
            /** Case Id */
            case_id: number;
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            /** Effect Percent */
            effect_percent: number | null;
            /** Host */
            host: string;
            /**
             * Mean
             * @description of the arm, in the metric's unit
             */
            mean: number | null;
            /**
             * N
             * @description boots that count
             */
            n: number;
            /** Profiled */
            profiled: boolean;
            state: components["schemas"]["CellState"];
            /**
             * Stopped Early
             * @description decided before its budget's end: effect overstated
             */
            stopped_early: boolean;
            verdict: components["schemas"]["Verdict"] | null;
        };
        /**
         * PairFact
         * @description Something that both experiments have, such as a kernel.
         */
        PairFact: {
            /** A */
            a: string;
            /** B */
            b: string;
            /** Differs */
            differs: boolean;
            /** What */
            what: string;
        };
        /**
         * PairJudgement
         * @description What is said of a row.
         * @enum {string}
         */
        PairJudgement: "differs" | "no-difference-seen" | "not-compared";
        /**
         * PairRow
         * @description One case, metric and arm on one pair of hosts.
         */
        PairRow: {
            a: components["schemas"]["PairCell"];
            /** Arm */
            arm: string;
            b: components["schemas"]["PairCell"];
            baseline_level?: components["schemas"]["LevelRatio"] | null;
            /** Case */
            case: string;
            clock: components["schemas"]["Clock"];
            /**
             * Detectable Percent
             * @description smallest true difference that would be seen in 80 % of repetitions
             */
            detectable_percent: number | null;
            /**
             * Difference Percent
             * @description B's effect over A's
             */
            difference_percent: number | null;
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** High Percent */
            high_percent: number | null;
            /**
             * Host
             * @description A's host, or `A's beside B's`
             */
            host: string;
            /**
             * Is Points
             * @description percentage points, for counts and shares
             */
            is_points: boolean;
            judgement: components["schemas"]["PairJudgement"];
            level?: components["schemas"]["LevelRatio"] | null;
            /**
             * Low Percent
             * @description of the 95 % interval of this row alone
             */
            low_percent: number | null;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Note */
            note: string;
            /** P */
            p: number | null;
            /** Primary */
            primary: boolean;
            /**
             * Q
             * @description false discovery rate over all rows that are compared
             */
            q: number | null;
            /** Unit */
            unit: string;
            /** Workload */
            workload: string;
        };
        /**
         * PairSide
         * @description One of both experiments.
         */
        PairSide: {
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Finished At */
            finished_at: string | null;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Question */
            question: string;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["ExperimentState"];
        };
        /**
         * PairSort
         * @description In which order rows stand.
         * @enum {string}
         */
        PairSort: "difference" | "plan" | "q";
        /**
         * PairView
         * @description Two experiments as one matrix.
         */
        PairView: {
            a: components["schemas"]["PairSide"];
            /** Arms */
            arms: components["schemas"]["ArmPair"][];
            b: components["schemas"]["PairSide"];
            /**
             * Compared
             * @description of these, those whose effects have intervals on both sides
             */
            compared: number;
            /** Differing */
            differing: number;
            /**
             * Facts
             * @description those that differ come first
             */
            facts: components["schemas"]["PairFact"][];
            /** Hosts */
            hosts: components["schemas"]["HostPair"][];
            /**
             * Matched
             * @description rows that both have, whatever is filtered
             */
            matched: number;
            /**
             * Next Offset
             * @description null: this page is the last
             */
            next_offset: number | null;
            /**
             * Notices
             * @description what to know before reading the rows
             */
            notices: string[];
            /** Offset */
            offset: number;
            /** Rows */
            rows: components["schemas"]["PairRow"][];
            /**
             * Sentence
             * @description the answer
             */
            sentence: string;
            /**
             * Total
             * @description rows that the filters leave, on all pages
             */
            total: number;
            /** Unmatched */
            unmatched: components["schemas"]["UnmatchedCount"][];
            /** Workloads */
            workloads: string[];
        };
        /**
         * PatchChange
         * @description One patch in both revisions; positions from 1. *lines*: a diff of the two diffs.
         */
        PatchChange: {
            /** After */
            after: number | null;
            /** Before */
            before: number | null;
            change: components["schemas"]["Change"];
            /**
             * Cut
             * @default 0
             */
            cut: number;
            /** Lines */
            lines: string[];
            /** Title */
            title: string;
            /** Title Before */
            title_before: string;
        };
        /**
         * PatchText
         * @description One patch as it is sent.
         */
        PatchText: {
            /**
             * Text
             * @description as `git format-patch` writes it, or the diff alone
             */
            text: string;
            /**
             * Title
             * @description empty: its number
             * @default
             */
            title: string;
        };
        /**
         * PatchView
         * @description One patch of a kernel; *digest*: SHA-256 of its text.
         */
        PatchView: {
            /** Digest */
            digest: string;
            /** Title */
            title: string;
        };
        /**
         * Picture
         * @description A line of values over time.
         */
        Picture: {
            /**
             * Changed At
             * @description where the level changed
             */
            changed_at?: string | null;
            /** Id */
            id: string;
            /** Points */
            points: components["schemas"]["Point"][];
            /**
             * Title
             * @description what it shows, for those who do not see it
             */
            title: string;
            /** Unit */
            unit: string;
            /**
             * Zero
             * @description whether 0 belongs into it, as for effects
             * @default false
             */
            zero: boolean;
        };
        /**
         * Point
         * @description One value of a picture, with its interval if it has one.
         */
        Point: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** High */
            high?: number | null;
            /** Low */
            low?: number | null;
            /** Value */
            value: number;
        };
        /**
         * PointLevel
         * @description What one point showed in one step, in the metric's unit.
         */
        PointLevel: {
            /** Boots */
            boots: number;
            /**
             * Deviation Percent
             * @description standard deviation of the boots; of two
             */
            deviation_percent: number | null;
            /**
             * Effect Percent
             * @description against the step's first point
             */
            effect_percent: number | null;
            /**
             * Mean
             * @description geometric mean of the boots' means
             */
            mean: number | null;
            /** Point */
            point: number;
        };
        /**
         * PointView
         * @description One point that is skipped, was built, or was measured.
         */
        PointView: {
            /**
             * Kernel
             * @description the kernel's release; empty: none was built for it yet
             */
            kernel: string;
            /** Mode */
            mode: string;
            /** Position */
            position: number;
            /**
             * Skipped
             * @description why it is not measured; empty: it may be
             */
            skipped: string;
            /**
             * Without
             * @description of the revert: the candidate that is taken out
             */
            without: number | null;
        };
        /**
         * PredictedCost
         * @description What the difference costs an operation on a processor: predicted, never measured.
         */
        PredictedCost: {
            /**
             * Checked
             * @description predictions of this processor checked on real hosts so far
             */
            checked: number;
            /**
             * Held
             * @description of them, those that held
             */
            held: number;
            /** High */
            high: number;
            /**
             * Low
             * @description 95 %, of the errors of the prices
             */
            low: number;
            /**
             * Missing
             * @description events that differ and have no price there
             */
            missing: string[];
            /** Ns */
            ns: number;
            /** Parts */
            parts: components["schemas"]["PredictedPart"][];
            /** Processor */
            processor: string;
            /** Title */
            title: string;
        };
        /**
         * PredictedPart
         * @description What one event adds to a prediction.
         */
        PredictedPart: {
            /** Event */
            event: string;
            /** Ns */
            ns: number;
            /**
             * Source
             * @description who says what it costs
             */
            source: string;
            /**
             * Times
             * @description more of it an operation in B, or fewer
             */
            times: number;
        };
        /**
         * PriceView
         * @description What one event costs on a processor, ns, with its 95 % interval and who says so.
         */
        PriceView: {
            /** Event */
            event: string;
            /** High */
            high: number;
            /** Low */
            low: number;
            /** Ns */
            ns: number;
            /** Source */
            source: string;
            /** Title */
            title: string;
            /**
             * Url
             * @description of the source; empty where it has none
             */
            url: string;
        };
        /**
         * Prices
         * @description All prices that are known, and the newest checks of them.
         */
        Prices: {
            /**
             * Checks
             * @description newest first
             */
            checks: components["schemas"]["CheckView"][];
            /**
             * More
             * @description older checks that are not listed
             */
            more: number;
            /** Processors */
            processors: components["schemas"]["ProcessorPrices"][];
        };
        /**
         * ProblemView
         * @description How the API says no: what is wrong, and the way out.
         */
        ProblemView: {
            /** Error */
            error: string;
            /**
             * Hint
             * @default
             */
            hint: string;
            /** Message */
            message: string;
            /**
             * Request Id
             * @description by which the service's log names the request
             * @default
             */
            request_id: string;
        };
        /**
         * ProcessorPrices
         * @description One file of prices/processors/.
         */
        ProcessorPrices: {
            /** Microarchitecture */
            microarchitecture: string;
            /** Microcode */
            microcode: string;
            /** Prices */
            prices: components["schemas"]["PriceView"][];
            /** Processor */
            processor: string;
            /** Title */
            title: string;
        };
        /**
         * ProfileGroupView
         * @description Boots of one arm on one host whose profiles are of one kind of case.
         */
        ProfileGroupView: {
            /** Arm */
            arm: string;
            /** Case Id */
            case_id: number;
            clock: components["schemas"]["Clock"];
            /** Emulated */
            emulated: boolean;
            /**
             * Event
             * @description groups of different events cannot be compared
             */
            event: string;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
            /** Profiles */
            profiles: number;
        };
        /**
         * ProgressView
         * @description Live state of an experiment; sent whole by server-sent events on each change.
         */
        ProgressView: {
            /** Boots Done */
            boots_done: number;
            /** Boots Total */
            boots_total: number;
            /** Experiment Id */
            experiment_id: number;
            /**
             * Is Over
             * @description nothing more comes: its last verdicts are written too
             */
            is_over: boolean;
            /** Last Event Id */
            last_event_id: number;
            /** Runs */
            runs: components["schemas"]["RunView"][];
            /** Seconds Left */
            seconds_left: number | null;
            state: components["schemas"]["ExperimentState"];
        };
        /**
         * Quantity
         * @description A value in its unit; without one, the words that stand in its place.
         */
        Quantity: {
            /**
             * At Least
             * @description some boots count as the most that was tried
             * @default false
             */
            at_least: boolean;
            /**
             * Boots
             * @description that have a value
             * @default 0
             */
            boots: number;
            /** High */
            high?: number | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "quantity";
            /**
             * Low
             * @description of its 95 % interval over boots
             */
            low?: number | null;
            /**
             * Of
             * @description boots that could have one
             * @default 0
             */
            of: number;
            /**
             * Unit
             * @default
             */
            unit: string;
            /** Value */
            value?: number | null;
            /**
             * Whole
             * @description told in whole numbers, from 100 on
             * @default false
             */
            whole: boolean;
            /**
             * Words
             * @description in place of a value
             * @default
             */
            words: string;
        };
        /**
         * QueuedRun
         * @description A run that has a host, or waits for it. Seconds from now; null: cannot be told yet.
         */
        QueuedRun: {
            /** Comparison */
            comparison: string;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /**
             * Not Known
             * @description why its start cannot be told
             * @default
             */
            not_known: string;
            /** Run Id */
            run_id: number;
            /** Starts High S */
            starts_high_s: number | null;
            /** Starts In S */
            starts_in_s: number | null;
            /** Starts Low S */
            starts_low_s: number | null;
            state: components["schemas"]["RunState"];
            /** Submitted By */
            submitted_by: string;
            /** Takes High S */
            takes_high_s: number | null;
            /** Takes Low S */
            takes_low_s: number | null;
            /**
             * Takes S
             * @description what is left of it
             */
            takes_s: number | null;
        };
        /**
         * ReachedRow
         * @description The load at which the curve first reaches a threshold, by arm.
         */
        ReachedRow: {
            /** Cells */
            cells: components["schemas"]["DetailCell"][];
            /**
             * Is Own
             * @description the case's own threshold
             */
            is_own: boolean;
            /** Threshold */
            threshold: number;
        };
        /**
         * ReadyMadeHead
         * @description One of them in the list.
         */
        ReadyMadeHead: {
            /** Environment */
            environment: string;
            /**
             * Name
             * @description its file's name without `.yml`
             */
            name: string;
            /**
             * Question
             * @description what it asks, as one line
             */
            question: string;
        };
        /**
         * ReadyMadeSpec
         * @description One of them, whole.
         */
        ReadyMadeSpec: {
            /** Environment */
            environment: string;
            /**
             * Name
             * @description its file's name without `.yml`
             */
            name: string;
            /**
             * Question
             * @description what it asks, as one line
             */
            question: string;
            /**
             * Text
             * @description YAML, as `POST /api/experiments` takes it
             */
            text: string;
        };
        /**
         * Reason
         * @description Why a host is taken from runs.
         */
        Reason: {
            /** Reason */
            reason: string;
        };
        /**
         * ReasonRow
         * @description How often guests exited for one reason, by arm.
         */
        ReasonRow: {
            /**
             * Per Second
             * @description over the measured iterations, one an arm; null: not collected
             */
            per_second: (number | null)[];
            /** Reason */
            reason: string;
        };
        /**
         * ReasonTable
         * @description Exits by their reason, most frequent first.
         */
        ReasonTable: {
            /** Arms */
            arms: string[];
            /** Rows */
            rows: components["schemas"]["ReasonRow"][];
            /**
             * Source
             * @description what counted them
             */
            source: string;
            /** Title */
            title: string;
        };
        /**
         * Recorded
         * @description Where an experiment was recorded that was loaded from a file.
         */
        Recorded: {
            /**
             * At
             * Format: date-time
             * @description when the experiment ended there
             */
            at: string;
            /**
             * Host
             * @description its hosts and their clocks, for people
             */
            host: string;
        };
        /**
         * RegressionChange
         * @description What somebody changes of a regression; what is not given stays as it is.
         */
        RegressionChange: {
            /** Bisection Id */
            bisection_id?: number | null;
            /**
             * Bug
             * @description the address of a bug; empty: none
             */
            bug?: string | null;
            /**
             * Duplicate Of
             * @description the regression that it joins
             */
            duplicate_of?: number | null;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Owner
             * @description who works on it; empty: nobody
             */
            owner?: string | null;
            state?: components["schemas"]["RegressionState"] | null;
            /**
             * Version
             * @description as it was shown; refused if it has grown
             */
            version: number;
        };
        /**
         * RegressionPage
         * @description Some of the regressions.
         */
        RegressionPage: {
            /**
             * Counts
             * @description of all that match but for their state
             */
            counts: {
                [key: string]: number;
            };
            /**
             * Next
             * @description offset of the next page
             */
            next: number | null;
            /** Regressions */
            regressions: components["schemas"]["RegressionSummary"][];
            /** Total */
            total: number;
        };
        /**
         * RegressionState
         * @description What people know of a regression.
         * @enum {string}
         */
        RegressionState: "new" | "confirmed" | "assigned" | "known" | "fixed" | "false" | "not-worth-it" | "duplicate";
        /**
         * RegressionSummary
         * @description A line in the list of regressions.
         */
        RegressionSummary: {
            /**
             * Before
             * @description what it was compared with
             */
            before: string;
            /** Bisection Id */
            bisection_id: number | null;
            /**
             * Bug
             * @description address; empty: none
             */
            bug: string;
            /**
             * Case
             * @description the case's title
             */
            case: string;
            /**
             * Changed At
             * Format: date-time
             */
            changed_at: string;
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            clock: components["schemas"]["Clock"];
            /** Duplicate Of */
            duplicate_of: number | null;
            /**
             * Effect Percent
             * @description null: the level before is 0
             */
            effect_percent: number | null;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /**
             * Found At
             * Format: date-time
             */
            found_at: string;
            /**
             * Happened At
             * Format: date-time
             */
            happened_at: string;
            /** Host Class */
            host_class: string;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Mode */
            mode: string;
            origin: components["schemas"]["Origin"];
            /**
             * Owner
             * @description empty: nobody
             */
            owner: string;
            /**
             * Owner Name
             * @description the owner as people read it; empty: nobody
             */
            owner_name: string;
            state: components["schemas"]["RegressionState"];
            /** Version */
            version: number;
            /** Workload */
            workload: string;
        };
        /**
         * RegressionView
         * @description One regression with its evidence and its history.
         */
        RegressionView: {
            /**
             * Arm
             * @description of a cell: the arm's name
             */
            arm: string;
            /**
             * Before
             * @description what it was compared with
             */
            before: string;
            /** Bisection Id */
            bisection_id: number | null;
            /**
             * Bug
             * @description address; empty: none
             */
            bug: string;
            /**
             * Case
             * @description the case's title
             */
            case: string;
            /** Case Id */
            case_id: number | null;
            /** Change Id */
            change_id: number | null;
            /**
             * Changed At
             * Format: date-time
             */
            changed_at: string;
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            clock: components["schemas"]["Clock"];
            /** Duplicate Of */
            duplicate_of: number | null;
            /**
             * Duplicates
             * @description regressions that joined this one
             */
            duplicates: number[];
            /**
             * Effect Percent
             * @description null: the level before is 0
             */
            effect_percent: number | null;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /**
             * Experiment Id
             * @description null: it was deleted
             */
            experiment_id: number | null;
            /**
             * Found At
             * Format: date-time
             */
            found_at: string;
            /**
             * Happened At
             * Format: date-time
             */
            happened_at: string;
            /**
             * History
             * @description the newest last
             */
            history: components["schemas"]["EntryView"][];
            /** Host Class */
            host_class: string;
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Mode */
            mode: string;
            origin: components["schemas"]["Origin"];
            /**
             * Owner
             * @description empty: nobody
             */
            owner: string;
            /**
             * Owner Name
             * @description the owner as people read it; empty: nobody
             */
            owner_name: string;
            state: components["schemas"]["RegressionState"];
            /** Trend Id */
            trend_id: number | null;
            /** Version */
            version: number;
            /** Workload */
            workload: string;
        };
        /**
         * Renamed
         * @description A symbol that has another name in the later revision, and nowhere its old one.
         */
        Renamed: {
            /** After */
            after: string;
            /** Before */
            before: string;
            /** Times */
            times: number;
        };
        /**
         * RequestApproval
         * @description Which mail a person looked at before saying that it is meant.
         */
        RequestApproval: {
            /**
             * Digest
             * @description of the mail: 12 hexadecimal digits or more
             */
            digest: string;
        };
        /**
         * RequestKind
         * @description What is asked for.
         * @enum {string}
         */
        RequestKind: "test" | "fix" | "stop" | "unclear";
        /**
         * RequestState
         * @description What became of a mail that asks for something.
         * @enum {string}
         */
        RequestState: "waiting" | "accepted" | "refused" | "done" | "ignored";
        /**
         * RequestView
         * @description One mail that asks for something. *mail_sha256*: the mail, in the blob store.
         */
        RequestView: {
            /** About */
            about: string;
            asked: components["schemas"]["RequestKind"];
            attested: components["schemas"]["Attested"];
            /** Error */
            error: string;
            /** Failures */
            failures: number;
            /** Id */
            id: number;
            /** Line */
            line: string;
            /** Mail Sha256 */
            mail_sha256: string;
            /** Message Id */
            message_id: string;
            /** Receipt At */
            receipt_at: string | null;
            /**
             * Received At
             * Format: date-time
             */
            received_at: string;
            /** Result At */
            result_at: string | null;
            /** Sender */
            sender: string;
            state: components["schemas"]["RequestState"];
            /** Subject */
            subject: string;
            /** Why */
            why: string;
        };
        /**
         * RequestWhole
         * @description One request with its mail, as hostile as any mail.
         */
        RequestWhole: {
            /** About */
            about: string;
            asked: components["schemas"]["RequestKind"];
            attested: components["schemas"]["Attested"];
            /**
             * Cut
             * @description whether more of it stands in the blob store
             */
            cut: boolean;
            /** Error */
            error: string;
            /** Failures */
            failures: number;
            /** Id */
            id: number;
            /** Line */
            line: string;
            /**
             * Mail
             * @description as it came, headers and all, up to the limit
             */
            mail: string;
            /** Mail Sha256 */
            mail_sha256: string;
            /** Message Id */
            message_id: string;
            /** Receipt At */
            receipt_at: string | null;
            /**
             * Received At
             * Format: date-time
             */
            received_at: string;
            /** Result At */
            result_at: string | null;
            /** Sender */
            sender: string;
            state: components["schemas"]["RequestState"];
            /** Subject */
            subject: string;
            /** Why */
            why: string;
        };
        /**
         * Reservation
         * @description What a host is reserved for, and until when.
         */
        Reservation: {
            /** Reason */
            reason: string;
            /**
             * Until
             * Format: date-time
             */
            until: string;
        };
        /**
         * ResultView
         * @description What one case gave within one boot.
         */
        ResultView: {
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /**
             * Error
             * @default
             */
            error: string;
            /** Finished At */
            finished_at: string | null;
            /** Lab Faults */
            lab_faults: {
                [key: string]: string | number;
            }[];
            /** Metrics */
            metrics: {
                [key: string]: components["schemas"]["MetricValues"];
            };
            /**
             * Raw Sha256
             * @description raw tool output, at /blobs/{sha256}
             */
            raw_sha256: string | null;
            /** Started At */
            started_at: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "planned" | "running" | "measured" | "failed" | "lab_fault";
            /** Tools */
            tools: {
                [key: string]: string;
            };
        };
        /**
         * RevertOutcome
         * @description What became of a change on the last end when its candidate was taken out there.
         * @enum {string}
         */
        RevertOutcome: "gone" | "part" | "nothing" | "worse";
        /**
         * RevertRecord
         * @description What the last end did without a candidate. Percent, with 95 % intervals.
         */
        RevertRecord: {
            /**
             * Blocks
             * @description those that have the last end with and without it
             */
            blocks: number;
            /** Candidate */
            candidate: number;
            /** Change High Percent */
            change_high_percent: number;
            /** Change Low Percent */
            change_low_percent: number;
            /**
             * Change Percent
             * @description against the last end with it
             */
            change_percent: number;
            /** Off High Percent */
            off_high_percent: number | null;
            /** Off Low Percent */
            off_low_percent: number | null;
            /**
             * Off Percent
             * @description against the candidate's parent
             */
            off_percent: number | null;
            outcome: components["schemas"]["RevertOutcome"];
        };
        /**
         * RevisionState
         * @description What has happened with a revision.
         * @enum {string}
         */
        RevisionState: "refused" | "waiting" | "approved" | "building" | "measuring" | "failed" | "set_aside" | "nothing_runs_it";
        /**
         * RevisionView
         * @description One revision.
         */
        RevisionView: {
            /**
             * All Cases
             * @description cases that run nothing of what it changes are wanted too
             * @default false
             */
            all_cases: boolean;
            /** Approved By */
            approved_by: string;
            attested: components["schemas"]["Attested"];
            /** Base Commit */
            base_commit: string;
            /** Changelog */
            changelog: string;
            /** Changes */
            changes: components["schemas"]["PatchChange"][];
            /**
             * Choices
             * @description which cases of each comparison of kernels in one mode are measured, and why; none: all are
             * @default []
             */
            choices: components["schemas"]["CaseChoice"][];
            /** Digest */
            digest: string;
            /** Experiment Id */
            experiment_id: number | null;
            /** Id */
            id: number;
            /** Label */
            label: string;
            /** Letter */
            letter: string;
            /**
             * Loosely
             * @description patches that did not apply as they are, and how they did
             * @default []
             */
            loosely: string[];
            /** Message Id */
            message_id: string;
            /** Number */
            number: number;
            /** Patches */
            patches: components["schemas"]["SeriesPatch"][];
            /**
             * Received At
             * Format: date-time
             */
            received_at: string;
            /** Renamed */
            renamed: components["schemas"]["Renamed"][];
            /** Retest */
            retest: string;
            /** Sender */
            sender: string;
            /** Sent At */
            sent_at: string | null;
            state: components["schemas"]["RevisionState"];
            /** Strays */
            strays: string[];
            /** Title */
            title: string;
            /** Why */
            why: string;
        };
        /**
         * Right
         * @description What a request may need.
         * @enum {string}
         */
        Right: "read" | "submit" | "cancel own" | "cancel any" | "resume a host" | "reserve a host" | "set a host aside or break a reservation" | "approve a series" | "read the audit log" | "triage regressions and trends" | "subscribe" | "see and end everybody's subscriptions";
        /**
         * Role
         * @description Roles, from the least to the most that one may do; *runner* is a CI's.
         * @enum {string}
         */
        Role: "viewer" | "runner" | "submitter" | "approver" | "admin";
        /**
         * RowView
         * @description One case and metric on one host: a row of the matrix.
         */
        RowView: {
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Cells */
            cells: components["schemas"]["CellView"][];
            /**
             * Counter
             * @description whether it stands in the counter table instead
             * @default false
             */
            counter: boolean;
            /**
             * Delta Percent
             * @description 'same': the interval lies within ± this
             */
            delta_percent: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /**
             * Disturbed
             * @description iterations taken again, since the processor was slowed beside them
             * @default 0
             */
            disturbed: number;
            /** Host */
            host: string;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /** Primary */
            primary: boolean;
            /**
             * Profiled
             * @description whether a separate pass of the case is profiled
             */
            profiled: boolean;
            /** Unit */
            unit: string;
            /**
             * Unsteady
             * @description iterations that count though disturbed: the processor never came to rest
             * @default 0
             */
            unsteady: number;
            /** Workload */
            workload: string;
        };
        /**
         * RunState
         * @description Where a run (one comparison on one host) stands.
         * @enum {string}
         */
        RunState: "queued" | "running" | "finished" | "failed" | "cancelled";
        /**
         * RunView
         * @description One comparison on one host: what is leased, advanced and resumed.
         */
        RunView: {
            /**
             * Block
             * @description current block, from 1
             */
            block?: number | null;
            /** Blocks */
            blocks: number;
            /** Boots Done */
            boots_done: number;
            /**
             * Boots Effective
             * @description whose mode was proven in force; others never count
             */
            boots_effective: number;
            /** Boots Total */
            boots_total: number;
            /** Comparison */
            comparison: string;
            /**
             * Detail
             * @description the step in words, for example 'booting loop'
             * @default
             */
            detail: string;
            /**
             * Error
             * @default
             */
            error: string;
            /** Finished At */
            finished_at: string | null;
            /** Host */
            host: string;
            /** @description once it is over */
            host_time?: components["schemas"]["HostTimeView"] | null;
            /** Id */
            id: number;
            /** Lab Faults */
            lab_faults: number;
            /**
             * Seconds Left
             * @description None: nothing measured yet to tell from
             */
            seconds_left?: number | null;
            /** Seconds Left High */
            seconds_left_high?: number | null;
            /** Seconds Left Low */
            seconds_left_low?: number | null;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["RunState"];
            /** Step */
            step: string;
            /**
             * Stopped After
             * @description blocks after which every primary metric was decided
             */
            stopped_after?: number | null;
            /**
             * Verdict Changes
             * @description how often its matrix has changed
             * @default 0
             */
            verdict_changes: number;
        };
        /**
         * RunningNow
         * @description A run that has its host.
         */
        RunningNow: {
            /** Boots Done */
            boots_done: number;
            /** Boots Total */
            boots_total: number;
            /** Environment */
            environment: string;
            /** Host */
            host: string;
            run: components["schemas"]["QueuedRun"];
        };
        /**
         * SearchView
         * @description What was found, by kind; kinds of which nothing was found are left out.
         */
        SearchView: {
            /** Groups */
            groups: components["schemas"]["FoundGroup"][];
            /** Query */
            query: string;
        };
        /**
         * Section
         * @description One part of the report.
         */
        Section: {
            /** About */
            about?: components["schemas"]["Span"][][];
            /** Entries */
            entries?: components["schemas"]["Entry"][];
            /** Id */
            id: string;
            /**
             * More
             * @description what was left out
             * @default
             */
            more: string;
            /** Tables */
            tables?: components["schemas"]["Table"][];
            /** Title */
            title: string;
        };
        /**
         * Selection
         * @description The boots of an arm, on a host, in an experiment: one side of a diff.
         */
        Selection: {
            /** Arm */
            arm: string;
            /** Case Id */
            case_id: number;
            /** Experiment Id */
            experiment_id: number;
            /** Host */
            host: string;
        };
        /**
         * SeriesHead
         * @description One series in a list.
         */
        SeriesHead: {
            /** Experiment Id */
            experiment_id: number | null;
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Newest */
            newest: string;
            /** Received At */
            received_at: string | null;
            /** Revisions */
            revisions: number;
            /** Spec */
            spec: string;
            state: components["schemas"]["RevisionState"] | null;
            /** Title */
            title: string;
            /** Watched */
            watched: boolean;
            /** Why */
            why: string;
        };
        /**
         * SeriesLine
         * @description The line of a series; *left_out*: rows beyond the first 200.
         */
        SeriesLine: {
            /** Left Out */
            left_out: number;
            /** Revisions */
            revisions: string[];
            /** Rows */
            rows: components["schemas"]["LineRow"][];
        };
        /**
         * SeriesPatch
         * @description One patch of a revision; *sha256*: of its text.
         */
        SeriesPatch: {
            /**
             * Closes
             * @description addresses of its `Closes:` tags, as they were written
             */
            closes?: string[];
            /** Files */
            files: string[];
            /** Fixes */
            fixes: string[];
            /** Message Id */
            message_id: string;
            /** Sha256 */
            sha256: string;
            /** Title */
            title: string;
        };
        /**
         * SeriesView
         * @description One series with its revisions, the first one first.
         */
        SeriesView: {
            /** Archive */
            archive: string;
            /**
             * Archive Error
             * @default
             */
            archive_error: string;
            /** Base */
            base: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Id */
            id: number;
            /** Looked At */
            looked_at?: string | null;
            /** Loose */
            loose: boolean;
            /** Name */
            name: string;
            /** Profile */
            profile: string;
            /** Revisions */
            revisions: components["schemas"]["RevisionView"][];
            /**
             * Set Aside
             * @default []
             */
            set_aside: string[];
            /** Spec */
            spec: string;
            /** Title */
            title: string;
            /** Watched */
            watched: boolean;
        };
        /**
         * SessionView
         * @description Who asks, and what that allows.
         */
        SessionView: {
            /** @description by what one is known */
            means: components["schemas"]["Means"];
            /** Rights */
            rights: components["schemas"]["Right"][];
            role: components["schemas"]["Role"];
            /**
             * Subject
             * @description a token's name, proxy: or oidc: and a user, operator; empty: nobody
             */
            subject: string;
        };
        /**
         * Sort
         * @description Orders of the list.
         * @enum {string}
         */
        Sort: "newest" | "oldest" | "name" | "effect";
        /**
         * Source
         * @description Where kernels come from, and whom a report is for. What does not apply is empty.
         */
        Source: {
            /**
             * Bad
             * @description the last end's commit
             * @default
             */
            bad: string;
            /**
             * Base
             * @description the source package that patches are applied to
             * @default
             */
            base: string;
            /** Cc */
            cc: string[];
            /**
             * Good
             * @description the first end's commit
             * @default
             */
            good: string;
            /**
             * Message Id
             * @description the revision's first mail
             * @default
             */
            message_id: string;
            /**
             * Notes
             * @description what a reader should know of it
             */
            notes: string[];
            /**
             * Profile
             * @description the config profile of the kernels
             * @default
             */
            profile: string;
            /** References */
            references: string[];
            /**
             * Revision
             * @description series and revision, as `vmscape-bhb v4`
             * @default
             */
            revision: string;
            /**
             * Subject
             * @default
             */
            subject: string;
            /** To */
            to: string[];
            /**
             * Tree
             * @description the directory of the git tree
             * @default
             */
            tree: string;
        };
        /**
         * Span
         * @description Some words in a line.
         */
        Span: {
            /**
             * Href
             * @description path of the dashboard; empty: leads nowhere
             * @default
             */
            href: string;
            /** Text */
            text: string;
            /**
             * Tone
             * @default
             * @enum {string}
             */
            tone: "" | "worse" | "better" | "emulated" | "bad" | "faint";
        };
        /**
         * SpecForecast
         * @description What a spec, in which nothing is wrong, would plan. Nothing is stored.
         */
        SpecForecast: {
            /**
             * Boots
             * @description at most, over all hosts
             */
            boots: number;
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonForecast"][];
            /** Environment */
            environment: string;
            /** Hosts */
            hosts: components["schemas"]["HostForecast"][];
            /** Name */
            name: string;
            /** Question */
            question: string;
            /**
             * Takes S
             * @description until the last host is done, were all of them free; null: cannot be told
             */
            takes_s: number | null;
        };
        /**
         * Stability
         * @description How far verdicts agree where the same two arms were compared again.
         */
        Stability: {
            /** Agreed */
            agreed: number;
            /** Agreed Percent */
            agreed_percent: number;
            /** Ci High Percent */
            ci_high_percent: number;
            /** Ci Low Percent */
            ci_low_percent: number;
            clock: components["schemas"]["Clock"];
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Host Class */
            host_class: string;
            /**
             * Opposite
             * @description better, then worse; or worse, then better
             */
            opposite: number;
            /**
             * Pairs
             * @description a verdict and the next one of the same question
             */
            pairs: number;
            /**
             * Questions
             * @description case, metric and pair of arms that were judged again
             */
            questions: number;
            /**
             * Undecided
             * @description one of the two was undecided
             */
            undecided: number;
            /**
             * Workload
             * @description empty: of all workloads
             */
            workload: string;
        };
        /**
         * StartRequest
         * @description How a revision is measured.
         */
        StartRequest: {
            /**
             * All Cases
             * @description also cases that are known to run nothing of what it changes
             * @default false
             */
            all_cases: boolean;
        };
        /**
         * StepView
         * @description One experiment of a bisection.
         */
        StepView: {
            /** Blocks */
            blocks: number;
            /** Boots */
            boots: number;
            /** Case Id */
            case_id: number;
            /** Experiment Id */
            experiment_id: number;
            experiment_state: components["schemas"]["ExperimentState"];
            /** Levels */
            levels: components["schemas"]["PointLevel"][];
            /** Measured S */
            measured_s: number;
            /** Number */
            number: number;
            /** Outcome */
            outcome: string;
            /** Over */
            over: boolean;
            /** Points */
            points: number[];
            /** Profiled */
            profiled: boolean;
            /** Purpose */
            purpose: string;
            /** Verifies */
            verifies: number | null;
            /** Why */
            why: string;
        };
        /**
         * SubjectKind
         * @description What kind of thing was changed.
         * @enum {string}
         */
        SubjectKind: "experiment" | "job" | "host" | "token" | "session" | "series" | "request" | "kernel" | "bisection" | "trend" | "regression" | "subscription" | "claims" | "profile" | "report" | "mail" | "backup" | "database";
        /**
         * SubscriptionKind
         * @description What somebody wants to hear of.
         * @enum {string}
         */
        SubscriptionKind: "my-regressions" | "new-regressions" | "series" | "case" | "host" | "week";
        /**
         * SubscriptionState
         * @description Whether it is told.
         * @enum {string}
         */
        SubscriptionState: "active" | "paused";
        /**
         * SubscriptionView
         * @description One subscription.
         */
        SubscriptionView: {
            /** At Once */
            at_once: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Id */
            id: number;
            kind: components["schemas"]["SubscriptionKind"];
            /** Owner */
            owner: string;
            state: components["schemas"]["SubscriptionState"];
            /**
             * Subject
             * @description of which one; empty where the kind says it all
             */
            subject: string;
            template: components["schemas"]["Template"];
            /**
             * To
             * @description the mail address, or the URL without most of its path
             */
            to: string;
            /**
             * Told At
             * @description when something was told last
             */
            told_at: string | null;
            way: components["schemas"]["TellWay"];
            /**
             * Why
             * @description why it is paused, or what went wrong last; empty: nothing
             */
            why: string;
        };
        /**
         * Table
         * @description Figures beside one another.
         */
        Table: {
            /**
             * Caption
             * @default
             */
            caption: string;
            /** Columns */
            columns: components["schemas"]["Column"][];
            /** Rows */
            rows: components["schemas"]["Span"][][][];
        };
        /**
         * TableChoice
         * @description Another table of the same kind that can be asked for.
         */
        TableChoice: {
            /** Query */
            query: {
                [key: string]: string;
            };
            /** Title */
            title: string;
        };
        /**
         * TableColumn
         * @description One column: what it holds, and how much of it a text shows.
         */
        TableColumn: {
            arm?: components["schemas"]["ArmHead"] | null;
            /** Key */
            key: string;
            /**
             * Kind
             * @default text
             * @enum {string}
             */
            kind: "text" | "quantity" | "answer";
            /**
             * Parts
             * @description of an effect, each in a column; none: in one
             * @default []
             */
            parts: ("change" | "interval" | "n" | "verdict")[];
            /** Title */
            title: string;
            /**
             * With Interval
             * @description whether a quantity's interval is shown
             * @default false
             */
            with_interval: boolean;
        };
        /**
         * TableNote
         * @description A line below a table.
         */
        TableNote: {
            /**
             * Label
             * @default
             */
            label: string;
            /** Text */
            text: string;
        };
        /**
         * TableSection
         * @description Tables of one thing, with what their figures mean.
         */
        TableSection: {
            /**
             * Counted
             * @description whether the host's time counts instructions
             * @default false
             */
            counted: boolean;
            /**
             * Emulated
             * @default false
             */
            emulated: boolean;
            /**
             * Href
             * @description page of what it is of
             * @default
             */
            href: string;
            /**
             * Meaning
             * @default
             */
            meaning: string;
            /** Notes */
            notes?: components["schemas"]["TableNote"][];
            /** Tables */
            tables: components["schemas"]["DataTable"][];
            /** Title */
            title: string;
        };
        /**
         * TableView
         * @description All tables of one kind that were asked for.
         */
        TableView: {
            /** Choices */
            choices?: components["schemas"]["TableChoice"][];
            /**
             * Counted
             * @default false
             */
            counted: boolean;
            /**
             * Emulated
             * @default false
             */
            emulated: boolean;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /**
             * More
             * @description what was left out
             * @default
             */
            more: string;
            /**
             * Notes
             * @description said before the first table
             */
            notes?: string[];
            /** Sections */
            sections: components["schemas"]["TableSection"][];
            /** State */
            state: string;
            /**
             * Table
             * @description the kind
             */
            table: string;
            /** Title */
            title: string;
        };
        /**
         * TellWay
         * @description How it is told.
         * @enum {string}
         */
        TellWay: "mail" | "webhook";
        /**
         * Template
         * @description What a webhook's body looks like.
         * @enum {string}
         */
        Template: "json" | "slack" | "mattermost" | "matrix";
        /**
         * TextCell
         * @description Words, perhaps with a page behind them.
         */
        TextCell: {
            /**
             * Href
             * @description path of the dashboard
             * @default
             */
            href: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "text";
            /**
             * Mark
             * @description what else to know of it, in a word
             * @default
             */
            mark: string;
            /** Text */
            text: string;
            /**
             * Title
             * @description the longer name, where there is room
             * @default
             */
            title: string;
        };
        /**
         * ThreadCell
         * @description One name in one arm.
         */
        ThreadCell: {
            /** Arm Id */
            arm_id: number;
            /**
             * Claims
             * @description published changes of the wake-ups
             */
            claims?: components["schemas"]["CounterClaim"][];
            /**
             * N
             * @description boots that tell of the name
             */
            n: number;
            /** @description ms in a second; null: the host does not tell */
            run: components["schemas"]["ThreadFigure"] | null;
            /** @description ms in a second in which threads were ready and had no processor */
            wait: components["schemas"]["ThreadFigure"] | null;
            /** @description in a second */
            wakeups: components["schemas"]["ThreadFigure"] | null;
        };
        /**
         * ThreadFigure
         * @description A rate over an arm's boots, and its change against the baseline.
         */
        ThreadFigure: {
            /** Change Percent */
            change_percent?: number | null;
            /** High */
            high: number | null;
            /** High Percent */
            high_percent?: number | null;
            /**
             * Low
             * @description 95 % interval over boots; null: of one boot
             */
            low: number | null;
            /** Low Percent */
            low_percent?: number | null;
            /** Mean */
            mean: number;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Q
             * @description false discovery rate over all names of the table
             */
            q?: number | null;
        };
        /**
         * ThreadRow
         * @description Threads of one name, numbers merged.
         */
        ThreadRow: {
            /** Cells */
            cells: components["schemas"]["ThreadCell"][];
            /** Name */
            name: string;
            /**
             * Own
             * @description of the load: the case's metric counts their wake-ups
             */
            own: boolean;
            /**
             * Threads
             * @description at most so many at a time
             */
            threads: number;
        };
        /**
         * ThreadTableView
         * @description One case on one host.
         */
        ThreadTableView: {
            /**
             * Arms
             * @description the baseline first
             */
            arms: components["schemas"]["CounterArm"][];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Comparison */
            comparison: string;
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Host */
            host: string;
            /** Host Class */
            host_class: string;
            /**
             * Left Out
             * @description names beyond the limit of a page
             */
            left_out: number;
            /**
             * Measured S
             * @description seconds of all windows of a boot, the mean
             */
            measured_s: number;
            others: components["schemas"]["OtherThreads"] | null;
            /** Processor */
            processor: string;
            /**
             * Rows
             * @description own names first, then by wake-ups
             */
            rows: components["schemas"]["ThreadRow"][];
            /**
             * Window S
             * @description seconds that the case asks for, else 5
             */
            window_s: number;
        };
        /**
         * ThreadsView
         * @description Threads by name over the arms of an experiment.
         */
        ThreadsView: {
            /** Counted */
            counted: boolean;
            /** Emulated */
            emulated: boolean;
            /** Experiment */
            experiment: string;
            /** Experiment Id */
            experiment_id: number;
            /**
             * Left Out
             * @description tables beyond the limit, or not asked for
             */
            left_out: number;
            /** State */
            state: string;
            /** Tables */
            tables: components["schemas"]["ThreadTableView"][];
        };
        /**
         * TrendChange
         * @description A place in a trend where its level changed, as it is said now or was said before.
         */
        TrendChange: {
            /** After */
            after: number;
            /**
             * At
             * Format: date-time
             * @description the first value at the new level
             */
            at: string;
            /**
             * Before
             * @description geometric mean of the values before, in the metric's unit
             */
            before: number;
            /** Case */
            case: string;
            /**
             * Causes
             * @description empty: nothing known changed
             */
            causes: components["schemas"]["Cause"][];
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            clock: components["schemas"]["Clock"];
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /**
             * Earliest At
             * Format: date-time
             * @description the change lies between these two (95 %)
             */
            earliest_at: string;
            /**
             * Effect Percent
             * @description null: the level before is 0
             */
            effect_percent: number | null;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Experiment After */
            experiment_after: number;
            /** Experiment Before */
            experiment_before: number;
            /**
             * Found At
             * Format: date-time
             * @description when it was seen first
             */
            found_at: string;
            /** Host Class */
            host_class: string;
            /**
             * Hosts
             * @description hosts that have it
             */
            hosts: string[];
            /**
             * Id
             * @description stays the same for all versions of the change
             */
            id: number;
            kind: components["schemas"]["ChangeKind"];
            /**
             * Latest At
             * Format: date-time
             */
            latest_at: string;
            /**
             * Line
             * @description patch series or configuration of kernels built here; often empty
             */
            line: string;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /**
             * Mode
             * @description family/mode
             */
            mode: string;
            /** Moved To */
            moved_to: components["schemas"]["MovedTo"][];
            /**
             * P
             * @description of the permutation test that found it
             */
            p: number;
            /**
             * Reason
             * @description why this version was written
             * @default
             */
            reason: string;
            /**
             * Run After
             * @description run of the first value after
             */
            run_after: number;
            /**
             * Run Before
             * @description run of the last value before
             */
            run_before: number;
            /**
             * Said
             * @default
             */
            said: string;
            /**
             * Said By
             * @description who accepted or expected it
             * @default
             */
            said_by: string;
            state: components["schemas"]["ChangeState"];
            /**
             * Superseded At
             * @description null: this is what is said now
             */
            superseded_at?: string | null;
            /** Trend Id */
            trend_id: number;
            /** Unit */
            unit: string;
            /**
             * Until
             * @description of one that went away: the first value without it
             */
            until: string | null;
            /** Values After */
            values_after: number;
            /** Values Before */
            values_before: number;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "better" | "worse";
            /** Version */
            version: number;
            /** Workload */
            workload: string;
            /**
             * Written At
             * Format: date-time
             */
            written_at: string;
        };
        /**
         * TrendLevel
         * @description Values between two changes.
         */
        TrendLevel: {
            /**
             * End
             * @description place after its last value
             */
            end: number;
            /**
             * First
             * @description place of its first value, from 0
             */
            first: number;
            /** Mean */
            mean: number;
        };
        /**
         * TrendPage
         * @description Some trends: those whose change is newest first, then those without one.
         */
        TrendPage: {
            /**
             * Next
             * @description `offset` of the next page; null: this is the last
             */
            next: number | null;
            /** Total */
            total: number;
            /** Trends */
            trends: components["schemas"]["TrendSummary"][];
        };
        /**
         * TrendPoint
         * @description One value: an arm of one run.
         */
        TrendPoint: {
            /** Arm */
            arm: string;
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Boots */
            boots: number;
            /** Case Id */
            case_id: number;
            /** Experiment Id */
            experiment_id: number;
            /** High */
            high: number | null;
            /** Host */
            host: string;
            /** Kernel */
            kernel: string;
            /**
             * Low
             * @description 95 % interval from the boots; null: one boot
             */
            low: number | null;
            /** Outlier */
            outlier: boolean;
            /**
             * Profiled
             * @description whether its boots have profiles of the case
             */
            profiled: boolean;
            /** Run Id */
            run_id: number;
            /**
             * Turned
             * @description kernel, microcode, firmware and the like that are others than at the host's value before, in words
             */
            turned: string[];
            /**
             * Value
             * @description geometric mean of the boots' means, in the metric's unit
             */
            value: number;
        };
        /**
         * TrendSummary
         * @description A line in the list of trends.
         */
        TrendSummary: {
            /** Case */
            case: string;
            /** @description the newest one; null: none */
            change: components["schemas"]["TrendChange"] | null;
            clock: components["schemas"]["Clock"];
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /**
             * First At
             * @description null, as the next two: not looked at yet
             */
            first_at: string | null;
            /** Host Class */
            host_class: string;
            /** Id */
            id: number;
            /** Last At */
            last_at: string | null;
            /**
             * Level
             * @description since the last change, in the metric's unit
             */
            level: number | null;
            /**
             * Line
             * @description patch series or configuration of kernels built here; often empty
             */
            line: string;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /**
             * Mode
             * @description family/mode
             */
            mode: string;
            /**
             * Notes
             * @description what to know before believing it
             */
            notes: string[];
            /** Open Changes */
            open_changes: number;
            /** Primary */
            primary: boolean;
            /**
             * Sparkline
             * @description the newest values, in percent of the level
             */
            sparkline: number[];
            /** Unit */
            unit: string;
            /** Values */
            values: number;
            /** Workload */
            workload: string;
        };
        /**
         * TrendView
         * @description One trend with its values.
         */
        TrendView: {
            /** Annotations */
            annotations: components["schemas"]["Annotation"][];
            /** Case */
            case: string;
            /**
             * Changes
             * @description what is said now, by time
             */
            changes: components["schemas"]["TrendChange"][];
            clock: components["schemas"]["Clock"];
            /**
             * Delta Percent
             * @description a smaller change is none
             */
            delta_percent: number;
            /**
             * Direction
             * @enum {string}
             */
            direction: "lower" | "higher";
            /**
             * Earlier
             * @description versions that no longer hold, newest first
             */
            earlier: components["schemas"]["TrendChange"][];
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Host Class */
            host_class: string;
            /** Id */
            id: number;
            /**
             * Left Out
             * @description older values that are not shown
             * @default 0
             */
            left_out: number;
            /** Level */
            level: number | null;
            /** Levels */
            levels: components["schemas"]["TrendLevel"][];
            /**
             * Line
             * @description patch series or configuration of kernels built here; often empty
             */
            line: string;
            /** Metric */
            metric: string;
            /** Metric Title */
            metric_title: string;
            /**
             * Mode
             * @description family/mode
             */
            mode: string;
            /** Notes */
            notes: string[];
            /** Others */
            others: components["schemas"]["OtherTrend"][];
            /** Primary */
            primary: boolean;
            /** Unit */
            unit: string;
            /**
             * Values
             * @description by time; the newest ones where there are many
             */
            values: components["schemas"]["TrendPoint"][];
            /** Workload */
            workload: string;
        };
        /**
         * Unmatched
         * @description Why a row of one experiment has none in the other.
         * @enum {string}
         */
        Unmatched: "only-in-a" | "only-in-b" | "host-only-in-a" | "host-only-in-b" | "other-clock" | "other-unit";
        /**
         * UnmatchedCount
         * @description So many rows stand in no pair, and why.
         */
        UnmatchedCount: {
            reason: components["schemas"]["Unmatched"];
            /** Rows */
            rows: number;
        };
        /**
         * Verdict
         * @description What the numbers say about one arm against the baseline.
         * @enum {string}
         */
        Verdict: "better" | "worse" | "same" | "undecided";
        /**
         * VerdictSummary
         * @description One verdict, in short.
         */
        VerdictSummary: {
            /**
             * @description what the figure says of the true change
             * @default exact
             */
            bound: components["schemas"]["Bound"];
            /** Case */
            case: string;
            /** Case Id */
            case_id: number;
            /** Ci High Percent */
            ci_high_percent: number | null;
            /** Ci Low Percent */
            ci_low_percent: number | null;
            /** Effect Percent */
            effect_percent: number | null;
            /** Metric Title */
            metric_title: string;
            /** Verdict */
            verdict: string | null;
        };
        /**
         * WaitingForHosts
         * @description What waits for one host.
         */
        WaitingForHosts: {
            /** Environment */
            environment: string;
            /** Host */
            host: string;
            /**
             * Not Known
             * @description why its start cannot be told
             */
            not_known: string;
            /** Runs */
            runs: number;
            /**
             * Starts In S
             * @description the first of them; null: cannot be told
             */
            starts_in_s: number | null;
        };
        /**
         * Way
         * @description By what somebody acts.
         * @enum {string}
         */
        Way: "web" | "api" | "command" | "mail" | "worker";
        /**
         * WeeklyLine
         * @description A line in the list of weekly reports.
         */
        WeeklyLine: {
            /**
             * Complete
             * @description whether the week was over when the report was made
             */
            complete: boolean;
            counts: components["schemas"]["Counts"];
            /** In Words */
            in_words: string;
            /**
             * Made At
             * Format: date-time
             */
            made_at: string;
            /** New Better */
            new_better: number;
            /** New Worse */
            new_worse: number;
            /** Open Worse */
            open_worse: number;
            /** Sent At */
            sent_at: string | null;
            /** Version */
            version: number;
            /** Week */
            week: string;
        };
        /**
         * WeeklyView
         * @description One week's report, arranged for reading.
         */
        WeeklyView: {
            /** After */
            after: string | null;
            /**
             * Before
             * @description the week before it that has a report
             */
            before: string | null;
            /** Complete */
            complete: boolean;
            document: components["schemas"]["Document"];
            /** In Words */
            in_words: string;
            /**
             * Made At
             * Format: date-time
             */
            made_at: string;
            /** Version */
            version: number;
            /** Week */
            week: string;
        };
        /**
         * WholeExperimentView
         * @description One experiment with each of its boots: everything a program would want.
         */
        WholeExperimentView: {
            /** Boots */
            boots: components["schemas"]["BootLine"][];
            /** Boots Done */
            boots_done: number;
            /** Boots Total */
            boots_total: number;
            /** Comparisons */
            comparisons: components["schemas"]["ComparisonView"][];
            /**
             * Counted
             * @description whether a host's time counts instructions
             * @default false
             */
            counted: boolean;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Emulated */
            emulated: boolean;
            /** Environment */
            environment: string;
            /** Finished At */
            finished_at: string | null;
            /**
             * Headline
             * @description verdicts by kind, and the plainest effect, in words
             * @default
             */
            headline: string;
            /**
             * Host Facts
             * @description by host name
             */
            host_facts?: {
                [key: string]: components["schemas"]["HostFacts"];
            };
            /** Hosts */
            hosts: string[];
            /** Id */
            id: number;
            /** Name */
            name: string;
            /** Question */
            question: string;
            /** @description null: it ran here */
            recorded?: components["schemas"]["Recorded"] | null;
            /** Runs */
            runs: components["schemas"]["RunView"][];
            /** Seed */
            seed: number;
            /** Spec Text */
            spec_text: string;
            /** Started At */
            started_at: string | null;
            state: components["schemas"]["ExperimentState"];
            /**
             * Submitted By
             * @description who may cancel it beside approvers and admins
             */
            submitted_by: string;
            /**
             * Worst Effect Percent
             * @description the plainest effect, where it is for the worse; null: nothing is worse
             */
            worst_effect_percent?: number | null;
        };
        /**
         * WorkerView
         * @description A worker, what it can do, and when it was last seen.
         */
        WorkerView: {
            /** Alive */
            alive: boolean;
            /** Architecture */
            architecture: string;
            /**
             * Hosts
             * @description environment → hosts that it reaches
             */
            hosts: {
                [key: string]: string[];
            };
            /** Jobs */
            jobs: components["schemas"]["Ability"][];
            /** Lacks */
            lacks: components["schemas"]["Missing"][];
            /** Machine */
            machine: string;
            /** Name */
            name: string;
            /** Schema Revision */
            schema_revision: string;
            /**
             * Seen At
             * Format: date-time
             */
            seen_at: string;
            /**
             * Started At
             * Format: date-time
             */
            started_at: string;
            /**
             * Stopped
             * @description whether it ended by itself
             */
            stopped: boolean;
            /** Version */
            version: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_audit_entries: {
        parameters: {
            query?: {
                /** @description only entries with smaller numbers */
                before?: number | null;
                limit?: number;
                /** @description the actor's whole name */
                actor?: string | null;
                /** @description what was done */
                action?: components["schemas"]["Action"] | null;
                /** @description of what kind it is */
                subject_kind?: components["schemas"]["SubjectKind"] | null;
                /** @description its whole name or number */
                subject?: string | null;
                /** @description from then on */
                since?: string | null;
                /** @description before then */
                until?: string | null;
                /** @description true: only refused ones; false: only done ones */
                refused?: boolean | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    export_audit_entries: {
        parameters: {
            query?: {
                /** @description the actor's whole name */
                actor?: string | null;
                /** @description what was done */
                action?: components["schemas"]["Action"] | null;
                /** @description of what kind it is */
                subject_kind?: components["schemas"]["SubjectKind"] | null;
                /** @description its whole name or number */
                subject?: string | null;
                /** @description from then on */
                since?: string | null;
                /** @description before then */
                until?: string | null;
                /** @description true: only refused ones; false: only done ones */
                refused?: boolean | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_bisections: {
        parameters: {
            query?: {
                /** @description words, each in title, case, metric or who */
                find?: string;
                /** @description any of them; none: all */
                state?: components["schemas"]["BisectionState"][];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BisectionHead"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    start_bisection: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BisectionRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BisectionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    propose_bisection: {
        parameters: {
            query?: {
                regression?: number | null;
                experiment?: number | null;
                case?: number | null;
                host?: string;
                arm?: string;
                metric?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BisectionProposal"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_bisection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bisection_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BisectionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    cancel_bisection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bisection_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BisectionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_patch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                bisection_id: number;
                position: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    raw_output: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                digest: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": unknown;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_boot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                boot_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BootView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_experiments: {
        parameters: {
            query?: {
                before?: number | null;
                offset?: number;
                limit?: number;
                /** @description words, each in name, question or who; or a number */
                find?: string;
                /** @description any of them; none: all */
                state?: components["schemas"]["ExperimentState"][];
                /** @description submitted it */
                who?: string;
                /** @description submitted from then on: a date, UTC, or time */
                since?: string;
                /** @description submitted up to that day, or before a time */
                until?: string;
                host?: string;
                workload?: string;
                /** @description FAMILY or FAMILY/MODE; several joined by + */
                mode?: string;
                /** @description a primary metric's current verdict is such */
                verdict?: components["schemas"]["Verdict"] | null;
                sort?: components["schemas"]["Sort"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentPage"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    submit_experiment: {
        parameters: {
            query?: {
                /** @description stands for the file in errors */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/yaml": string;
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentHead"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_choices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentChoices"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_experiment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentHead"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    cancel_experiment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgressView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_case: {
        parameters: {
            query?: {
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
                case_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_collected: {
        parameters: {
            query?: {
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
                case_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectedView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_details: {
        parameters: {
            query?: {
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
                case_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetailsView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    details_report: {
        parameters: {
            query?: {
                host?: string | null;
                format?: "text" | "markdown" | "csv";
            };
            header?: never;
            path: {
                experiment_id: number;
                case_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_claims: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimSourceView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_consequences: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsequencesView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_counters: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CountersView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    counters_report: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
                format?: "text" | "markdown" | "csv";
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    follow_experiment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    iterations_as_csv: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    iterations_as_json: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": unknown;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_log: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_loss: {
        parameters: {
            query?: {
                case?: number | null;
                metric?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LossView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    loss_report: {
        parameters: {
            query?: {
                case?: number | null;
                metric?: string | null;
                format?: "text" | "markdown" | "csv";
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_matrix: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatrixView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    matrix_as_csv: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    matrix_as_json: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_progress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProgressView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    report: {
        parameters: {
            query?: {
                format?: "text" | "markdown";
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_table: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
                metric?: string | null;
                /** @description figures in so many seconds; else the case's window */
                seconds?: number | null;
                figure?: string | null;
                arm?: string | null;
                function?: string | null;
                other?: number | null;
            };
            header?: never;
            path: {
                experiment_id: number;
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TableView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    table_file: {
        parameters: {
            query?: {
                /** @description of JSON: the figures that the table is made of, in its place */
                figures?: boolean;
                case?: number | null;
                host?: string | null;
                metric?: string | null;
                /** @description figures in so many seconds; else the case's window */
                seconds?: number | null;
                figure?: string | null;
                arm?: string | null;
                function?: string | null;
                other?: number | null;
            };
            header?: never;
            path: {
                experiment_id: number;
                kind: string;
                suffix: "txt" | "md" | "csv" | "json";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_threads: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadsView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    threads_report: {
        parameters: {
            query?: {
                case?: number | null;
                host?: string | null;
                /** @description figures in so many seconds; else the case's window */
                seconds?: number | null;
                format?: "text" | "markdown" | "csv";
            };
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": unknown;
                    "text/plain": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_whole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeExperimentView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    feed_experiments: {
        parameters: {
            query?: {
                /** @description words, each in name, question or who; or a number */
                find?: string;
                /** @description any of them; none: all */
                state?: components["schemas"]["ExperimentState"][];
                /** @description submitted it */
                who?: string;
                /** @description submitted from then on: a date, UTC, or time */
                since?: string;
                /** @description submitted up to that day, or before a time */
                until?: string;
                host?: string;
                workload?: string;
                /** @description FAMILY or FAMILY/MODE; several joined by + */
                mode?: string;
                /** @description a primary metric's current verdict is such */
                verdict?: components["schemas"]["Verdict"] | null;
                sort?: components["schemas"]["Sort"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/atom+xml": unknown;
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    feed_regressions: {
        parameters: {
            query?: {
                /** @description any of them; none: all */
                state?: components["schemas"]["RegressionState"][];
                /** @description empty: those of nobody */
                owner?: string | null;
                environment?: string | null;
                host_class?: string | null;
                workload?: string | null;
                /** @description words, each of which is there */
                find?: string;
                /** @description found from then on */
                since?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/atom+xml": unknown;
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    feed_series: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/atom+xml": unknown;
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    feed_weekly: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/atom+xml": unknown;
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    check_spec: {
        parameters: {
            query?: {
                /** @description stands for the file in errors */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/yaml": string;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpecForecast"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    home: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HomeView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_hosts: {
        parameters: {
            query?: {
                /** @description words, each in name, class or capabilities */
                find?: string;
                /** @description any of them; none: all */
                state?: components["schemas"]["HostState"][];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostSummary"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    release_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                environment: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    reserve_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                environment: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reservation"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    resume_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                environment: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    set_host_aside: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                environment: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_host: {
        parameters: {
            query?: {
                environment?: string | null;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_jobs: {
        parameters: {
            query?: {
                /** @description Whether the service's own are listed too, which never end. */
                own?: boolean;
                /** @description words, each in title, subject or who */
                find?: string;
                /** @description any of them; none: all */
                state?: components["schemas"]["JobState"][];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobWhole"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    cancel_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_kernels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KernelView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    build_kernel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KernelRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_kernel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KernelView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_pair: {
        parameters: {
            query: {
                a: number;
                b: number;
                /** @description words, each in case, metric, arm or host */
                find?: string;
                workload?: string;
                /** @description rows that differ alone */
                only?: "" | "differs";
                /** @description a host of a, a colon, a host of b */
                hosts?: string[];
                sort?: components["schemas"]["PairSort"];
                offset?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairView"];
                };
            };
            /** @description the client has it already */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_prices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Prices"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_price_check: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                check_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckRows"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    case_profiles: {
        parameters: {
            query: {
                experiment: number;
                case: number;
                host: string;
                /** @description which system was profiled */
                where?: "host" | "guest" | "off-cpu";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseProfilesView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    diff: {
        parameters: {
            query: {
                basis?: ("operation" | "share" | "raw") | null;
                /** @description show numbered threads and compiled clones as one */
                merge?: boolean;
                /** @description arm, or group of imported profiles */
                a: string;
                /** @description arm or group that is compared with a */
                b: string;
                experiment?: number | null;
                case?: number | null;
                host?: string;
                b_experiment?: number | null;
                b_case?: number | null;
                b_host?: string;
                /** @description of imported profiles: what was profiled */
                tree?: string;
                /** @description which system was profiled */
                where?: "host" | "guest" | "off-cpu";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    diff_as_svg: {
        parameters: {
            query: {
                basis?: ("operation" | "share" | "raw") | null;
                /** @description show numbered threads and compiled clones as one */
                merge?: boolean;
                /** @description arm, or group of imported profiles */
                a: string;
                /** @description arm or group that is compared with a */
                b: string;
                experiment?: number | null;
                case?: number | null;
                host?: string;
                b_experiment?: number | null;
                b_case?: number | null;
                b_host?: string;
                /** @description of imported profiles: what was profiled */
                tree?: string;
                /** @description which system was profiled */
                where?: "host" | "guest" | "off-cpu";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    exact_counts: {
        parameters: {
            query: {
                /** @description whose instructions to list, by its name in B's kernel */
                function?: string;
                /** @description arm */
                a: string;
                /** @description arm that is compared with a */
                b: string;
                experiment: number;
                case: number;
                host: string;
                b_experiment?: number | null;
                b_case?: number | null;
                b_host?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExactTable"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    exact_flame_graph: {
        parameters: {
            query: {
                /** @description show numbered threads and compiled clones as one */
                merge?: boolean;
                /** @description arm */
                a: string;
                /** @description arm that is compared with a */
                b: string;
                experiment: number;
                case: number;
                host: string;
                b_experiment?: number | null;
                b_case?: number | null;
                b_host?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    functions: {
        parameters: {
            query: {
                experiment: number;
                case: number;
                host: string;
                /** @description which system was profiled */
                where?: "host" | "guest" | "off-cpu";
                basis?: ("operation" | "share" | "raw") | null;
                /** @description what differences and costs are of */
                measure?: "self" | "total";
                sort?: "difference" | "cost" | "q" | "name";
                /** @description sort by this arm; empty: by all of them */
                arm?: string;
                /** @description turn the order round */
                upwards?: boolean;
                /** @description part of a function's name */
                search?: string;
                offset?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FunctionsView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    groups: {
        parameters: {
            query: {
                experiment: number;
                case: number;
                /** @description which system was profiled */
                where?: "host" | "guest" | "off-cpu";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileGroupView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    instructions: {
        parameters: {
            query: {
                /** @description by its name in B's kernel; none: which functions have some */
                function?: string;
                basis?: ("operation" | "share" | "raw") | null;
                /** @description arm, or group of imported profiles */
                a: string;
                /** @description arm or group that is compared with a */
                b: string;
                experiment?: number | null;
                case?: number | null;
                host?: string;
                b_experiment?: number | null;
                b_case?: number | null;
                b_host?: string;
                /** @description of imported profiles: what was profiled */
                tree?: string;
                /** @description which system was profiled */
                where?: "host" | "guest" | "off-cpu";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstructionTable"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_queue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostQueue"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_regressions: {
        parameters: {
            query?: {
                offset?: number;
                limit?: number;
                /** @description any of them; none: all */
                state?: components["schemas"]["RegressionState"][];
                /** @description empty: those of nobody */
                owner?: string | null;
                environment?: string | null;
                host_class?: string | null;
                workload?: string | null;
                /** @description words, each of which is there */
                find?: string;
                /** @description found from then on */
                since?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegressionPage"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    file_regression: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRegression"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegressionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_regression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                regression_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegressionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    change_regression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                regression_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegressionChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegressionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_requests: {
        parameters: {
            query?: {
                /** @description only those that wait for a person */
                waiting?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_request: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestWhole"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    approve_request: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequestApproval"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    ignore_request: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    search: {
        parameters: {
            query: {
                /** @description words, or a number: 17 or #17 */
                q: string;
                /** @description of a kind */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_series: {
        parameters: {
            query?: {
                /** @description words, each in name or title */
                find?: string;
                /** @description of the newest revision, any of them; none: all */
                state?: components["schemas"]["RevisionState"][];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesHead"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_series: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_line: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesLine"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_revision: {
        parameters: {
            query?: {
                label?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    approve_revision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                revision: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Approval-Input"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    start_revision: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                revision: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartRequest"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    key?: string;
                    token?: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_ways: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogInWays"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_specs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyMadeHead"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_spec: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyMadeSpec"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_subscriptions: {
        parameters: {
            query?: {
                /** @description also other people's; for admins */
                everybody?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    add_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSubscription"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedSubscription"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    pause_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subscription_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    remove_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subscription_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    resume_subscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                subscription_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_trends: {
        parameters: {
            query?: {
                environment?: string | null;
                host_class?: string | null;
                workload?: string | null;
                mode?: string | null;
                find?: string | null;
                changed?: boolean;
                still_open?: boolean;
                offset?: number;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrendPage"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    accept_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                change_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Acceptance"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrendChange"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_classes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClassPage"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_stability: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stability"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_trend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                trend_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrendView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    annotate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                trend_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnnotation"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_weekly: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WeeklyLine"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    show_weekly: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                week: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WeeklyView"];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    weekly_file: {
        parameters: {
            query?: {
                format?: "text" | "markdown" | "html" | "json" | "mail";
            };
            header?: never;
            path: {
                week: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description a refusal */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description a refusal */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
    list_workers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerView"][];
                };
            };
            /** @description Client Error */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
            /** @description Server Error */
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProblemView"];
                };
            };
        };
    };
}
