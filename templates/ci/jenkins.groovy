// Jenkinsfile: judges a profile. Plugins: Docker Pipeline, JUnit, Copy Artifact.
pipeline {
    agent { docker { image 'python:3.13' } }
    options { timeout(time: 30, unit: 'MINUTES') }
    stages {
        stage('train') {
            steps {
                sh '''
                    python -m venv .venv
                    .venv/bin/pip install --quiet -r requirements.txt rooflint==@VERSION@
                    .venv/bin/python train.py --profile @PROFILE@
                '''
            }
        }
        stage('performance') {
            steps {
                // What the last good build knew: the runs that this one is compared with.
                copyArtifacts projectName: env.JOB_NAME, selector: lastSuccessful(),
                    filter: '.rooflint/facts.db', optional: true
                sh '''
                    mkdir -p .rooflint
                    set -- --store .rooflint/facts.db --record
                    if [ -f .rooflint/facts.db ]; then set -- "$@" --baseline store:last=10; fi
                    if [ -n "${ROOFLINT_SLACK_URL:-}" ]; then
                        set -- "$@" --notify slack:ROOFLINT_SLACK_URL
                    fi
                    .venv/bin/rooflint check "$@" --html rooflint.html --json rooflint.json \
                        --junit rooflint.xml -- @PROFILE@
                '''
            }
        }
    }
    post {
        always {
            junit 'rooflint.xml'
            archiveArtifacts artifacts: 'rooflint.html, rooflint.json, .rooflint/facts.db',
                allowEmptyArchive: true
        }
    }
}
